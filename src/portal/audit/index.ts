import { makeArea } from "../frame/index.ts";
import { handCsv } from "./csv.ts";
import { listLines } from "./list.ts";

/** `/admin/schools/:schoolId/audit`: who did what to whom, before and after. */
export const auditPages = makeArea({ folder: import.meta.dirname, page: "audit" }, (pages) => {
  pages.get("/admin/schools/:schoolId/audit", listLines);
  pages.get("/admin/schools/:schoolId/audit/file", handCsv);
});
