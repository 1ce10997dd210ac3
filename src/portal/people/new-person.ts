import type { AdminSchemas } from "../../admin/index.ts";
import { take, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { listGroups, onlyClasses } from "./groups.ts";

type NewPerson = AdminSchemas["NewPerson"];

export async function showNewPerson(visit: Visit): Promise<Shown> {
  const { t, part } = visit;
  const schoolId = part("schoolId");
  const classes = onlyClasses(await listGroups(visit));
  return { title: t("new.title"), view: "new", model: { schoolId, classes } };
}

/** Shape: all first names are the one that the person goes by, where nothing else was typed. */
export const readName = ({ field }: Visit): NonNullable<NewPerson["name"]> => {
  const firstCall = field("firstCall");
  return { firstCall, firstFull: field("firstFull") || firstCall, last: field("last") };
};

export async function addPerson(visit: Visit): Promise<Gone> {
  const { api, field, part, once } = visit;
  const schoolId = part("schoolId");
  const [group, source] = [field("group"), field("sourceId")];
  const body: NewPerson = {
    schoolIds: [schoolId],
    role: field("role") as NewPerson["role"],
    name: readName(visit),
    ...(group !== "" && { groupIds: [group] }),
    ...(source !== "" && { sourceSystemIdentifier: source }),
  };
  const params = { header: { "Idempotency-Key": once } };
  const made = await take(api.POST("/admin/v1/people", { params, body }));
  return { to: `/admin/schools/${schoolId}/people/${"id" in made ? made.id : ""}`, done: "personAdded" };
}
