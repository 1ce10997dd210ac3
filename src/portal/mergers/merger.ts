import type { AdminSchemas } from "../../admin/index.ts";
import { listMySchools, refuseField, requireFields, unwrap, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";

const ofSchool = "/admin/v1/schools/{schoolId}/mergers";
const listAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/mergers`;

export async function showMergers(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const base = listAddress(request);
  const params = { path, query: { limit: 50, ...request.cursor } };
  const { items, more } = await unwrapPage(api.GET(ofSchool, { params }));
  const [mayMerge, mayUndo] = [request.may("createSchoolMerger"), request.may("withdrawSchoolMerger")];
  const mergers = items.map((one) => ({ ...one, mayUndo: mayUndo && one.state === "MERGED" }));
  const model = { base, mergers, more: more(base), mayMerge, settings: `/admin/schools/${path.schoolId}/settings` };
  return { title: t("mergers.title"), view: "list", model };
}

const bodyOf = ({ field }: PageRequest): AdminSchemas["SchoolMergerInput"] => ({
  intoSchoolId: field("into"),
  keepSourceIds: field("ids") === "keep",
});

/** Offers the other schools of the caller; after a choice it shows what would happen. */
export async function showMerge(request: PageRequest): Promise<PageView> {
  const { api, path, field, t } = request;
  const schools = await listMySchools(request);
  const into = schools.find(({ id }) => id === field("into") && id !== path.schoolId);
  const params = { path, query: { "dry-run": true } };
  const asked = into === undefined ? null : await unwrap(api.POST(ofSchool, { params, body: bodyOf(request) }));
  const model = {
    base: listAddress(request),
    from: schools.find(({ id }) => id === path.schoolId)?.name ?? "",
    schools: schools.filter(({ id }) => id !== path.schoolId),
    into,
    ids: field("ids") === "keep" ? "keep" : "remove",
    preview: asked as AdminSchemas["SchoolMergerPreview"] | null,
  };
  return { title: t("merge.title"), view: "merge", model };
}

/** Merges once the number of people has been typed; shows what would happen before. */
export async function merge(request: PageRequest): Promise<Redirect | PageView> {
  const { api, path, field, idempotencyKey } = request;
  requireFields(request, "into");
  if (field("step") !== "merge") return showMerge(request);
  if (field("number") !== field("people")) throw refuseField("number", "number_not_confirmed");
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const made = await unwrap(api.POST(ofSchool, { params, body: bodyOf(request) }));
  return { to: listAddress(request), done: "merged", count: (made as AdminSchemas["SchoolMerger"]).people };
}

export async function undo(request: PageRequest): Promise<Redirect> {
  const { api, path } = request;
  await unwrap(api.DELETE(`${ofSchool}/{mergerId}`, { params: { path } }));
  return { to: listAddress(request), done: "undone" };
}
