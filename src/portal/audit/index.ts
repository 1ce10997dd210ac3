import { makeArea } from "../frame/index.ts";
import { handCsv } from "./csv.ts";
import { listLines } from "./list.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

const texts = { de: german, en: english };

/** `/admin/schools/:schoolId/audit`: who did what to whom, before and after. */
export const auditPages = makeArea({ folder: import.meta.dirname, texts, page: "audit" }, (pages) => {
  pages.get("/admin/schools/:schoolId/audit", listLines);
  pages.get("/admin/schools/:schoolId/audit/file", handCsv);
});
