import type { AdminSchemas } from "../../admin/index.ts";
import { listGroups, onlyClasses, unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";

type NewPerson = AdminSchemas["PersonInput"];

export async function showNewPerson(request: PageRequest): Promise<PageView> {
  const { t, param } = request;
  const schoolId = param("schoolId");
  const classes = onlyClasses(await listGroups(request));
  return { title: t("people.add"), view: "new", model: { schoolId, classes } };
}

/** All first names default to the preferred first name. */
export const readName = ({ field }: PageRequest): NonNullable<NewPerson["name"]> => {
  const firstCall = field("firstCall");
  return { firstCall, firstFull: field("firstFull") || firstCall, last: field("last") };
};

export async function addPerson(request: PageRequest): Promise<Redirect> {
  const { api, field, param, idempotencyKey } = request;
  const schoolId = param("schoolId");
  const [group, source] = [field("group"), field("sourceId")];
  const body: NewPerson = {
    schoolIds: [schoolId],
    role: field("role") as NewPerson["role"],
    name: readName(request),
    ...(group !== "" && { groupIds: [group] }),
    ...(source !== "" && { sourceSystemIdentifier: source }),
  };
  const params = { header: { "Idempotency-Key": idempotencyKey } };
  const made = await unwrap(api.POST("/admin/v1/people", { params, body }));
  return { to: `/admin/schools/${schoolId}/people/${"id" in made ? made.id : ""}`, done: "personAdded" };
}
