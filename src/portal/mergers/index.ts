import { makeArea, onlyIf } from "../frame/index.ts";
import { merge, showMerge, showMergers, undo } from "./merger.ts";

const mergers = "/admin/schools/:schoolId/mergers";

/** `/admin/schools/:schoolId/mergers`: a school becomes a part of another one, and that is undone. */
export const mergerPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  pages.get(mergers, onlyIf("listSchoolMergers", showMergers));
  pages.form(`${mergers}/new`, merge, onlyIf("createSchoolMerger", showMerge));
  pages.post(`${mergers}/:mergerId/undo`, undo, showMergers);
});
