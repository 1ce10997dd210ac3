import { makeArea, readDataRequest, viewDataRequest, type PageRequest } from "../frame/index.ts";
import { handCsv, handJson, showRecord } from "./record.ts";

const privacy = "/admin/schools/:schoolId/privacy";
const requests = `${privacy}/requests`;

/** `/admin/schools/:schoolId/privacy`: the record of processing of a school, to read, print and download. */
export const privacyPages = makeArea({ folder: import.meta.dirname, page: "privacy" }, (pages) => {
  pages.get(privacy, showRecord);
  pages.get(requests, showDataRequests);
  pages.act(`${requests}/:dataRequestId`, "updateDataRequest", {
    fields: readDataRequest,
    to: requests,
    done: "dataRequestUpdated",
    again: showDataRequests,
  });
  pages.get(`${privacy}/csv`, handCsv);
  pages.get(`${privacy}/json`, handJson);
});

const mostOpen = 1000;

/** The data requests of a school: open ones by the day on which they are due, closed ones by the page. */
async function showDataRequests(request: PageRequest) {
  const { call, list, t, path, at } = request;
  const ofSchool = { school: path.schoolId };
  const [open, closed] = await Promise.all([
    call("listDataRequests", { query: { ...ofSchool, state: "OPEN", limit: mostOpen } }),
    list("listDataRequests", { query: { ...ofSchool, state: "CLOSED", limit: 20 } }),
  ]);
  const byDueDay = open.toSorted((a, b) => (a.daysLeft ?? 0) - (b.daysLeft ?? 0));
  const model = {
    address: at(requests),
    open: byDueDay.map((one) => viewDataRequest(one, request)),
    closed: closed.items.map((one) => viewDataRequest(one, request)),
    more: closed.more(at(requests)),
  };
  return { title: t("requests.title"), view: "requests", model };
}
