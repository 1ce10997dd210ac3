import { makeArea, viewDataRequest, type PageRequest } from "../frame/index.ts";

/** `/admin/schools/:schoolId/today`: what needs attention at this school. */
export const todayPage = makeArea({ folder: import.meta.dirname, page: "today" }, (pages) => {
  pages.get("/admin/schools/:schoolId/today", showToday);
});

async function showToday(request: PageRequest) {
  const { call, may, path, at, t } = request;
  const [today] = await Promise.all([
    may("getToday") ? call("getToday", { query: { school: path.schoolId } }) : null,
    call("getSchool"),
  ]);
  const requests = today?.atSchools?.dataRequests.first.map((one) => viewDataRequest(one, request)) ?? [];
  return {
    title: t("frame.pages.today"),
    view: "today",
    model: { today, requests, address: at("/admin/schools/:schoolId") },
  };
}
