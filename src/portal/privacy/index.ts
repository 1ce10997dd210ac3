import { makeArea } from "../frame/index.ts";
import { showDataRequests, updateRequest } from "./data-requests.ts";
import { handCsv, handJson, showRecord } from "./record.ts";

/** `/admin/schools/:schoolId/privacy`: the record of processing of a school, to read, print and download. */
export const privacyPages = makeArea({ folder: import.meta.dirname, page: "privacy" }, (pages) => {
  pages.get("/admin/schools/:schoolId/privacy", showRecord);
  pages.get("/admin/schools/:schoolId/privacy/requests", showDataRequests);
  pages.post("/admin/schools/:schoolId/privacy/requests/:dataRequestId", updateRequest, showDataRequests);
  pages.get("/admin/schools/:schoolId/privacy/csv", handCsv);
  pages.get("/admin/schools/:schoolId/privacy/json", handJson);
});
