import type { AdminSchemas } from "../../admin/index.ts";
import {
  makePage,
  listMySchools,
  makeArea,
  onlyIf,
  refuseField,
  requireFields,
  type PageRequest,
} from "../frame/index.ts";

const mergers = "/admin/schools/:schoolId/mergers";

/** `/admin/schools/:schoolId/mergers`: a school becomes a part of another one, and that is undone. */
export const mergerPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const onMergers = pages.at("/admin/schools/:schoolId/mergers", onlyIf("listSchoolMergers", showMergers));
  onMergers.form("new", merge, onlyIf("createSchoolMerger", showMerge));
  onMergers.act(":mergerId/undo", "withdrawSchoolMerger", "undone");
});

async function showMergers({ list, may, t }: PageRequest) {
  const { items, more } = await list("listSchoolMergers");
  const mayUndo = may("withdrawSchoolMerger");
  return makePage("list", t("words.mergers"), {
    mergers: items.map((one) => ({ ...one, mayUndo: mayUndo && one.state === "MERGED" })),
    more,
  });
}

const bodyOf = ({ field }: PageRequest): AdminSchemas["SchoolMergerInput"] => ({
  intoSchoolId: field("into"),
  keepSourceIds: field("ids") === "keep",
});

/** Offers the other schools of the caller; after a choice it shows what would happen. */
async function showMerge(request: PageRequest) {
  const { call, path, field, t } = request;
  const schools = await listMySchools(request);
  const into = schools.find(({ id }) => id === field("into") && id !== path.schoolId);
  const preview = into && (await call("createSchoolMerger", { query: { "dry-run": true }, body: bodyOf(request) }));
  return makePage("merge", t("merge.title"), {
    from: schools.find(({ id }) => id === path.schoolId)?.name ?? "",
    schools: schools.filter(({ id }) => id !== path.schoolId),
    into,
    ids: field("ids") === "keep" ? "keep" : "remove",
    preview: preview as AdminSchemas["SchoolMergerPreview"] | undefined,
  });
}

/** Merges once the number of people has been typed; shows what would happen before. */
async function merge(request: PageRequest) {
  const { call, field, at } = request;
  requireFields(request, "into");
  if (field("step") !== "merge") return showMerge(request);
  if (field("number") !== field("people")) throw refuseField("number", "number_not_confirmed");
  const merged = await call("createSchoolMerger", { body: bodyOf(request) });
  return { to: at(mergers), done: "merged", count: (merged as AdminSchemas["SchoolMerger"]).people };
}
