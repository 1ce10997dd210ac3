import { makeArea, makePage, viewDataRequest, type PageRequest } from "../frame/index.ts";

/** `/admin/schools/:schoolId/today`: what needs attention at this school. */
export const todayPage = makeArea({ folder: import.meta.dirname, page: "today" }, (pages) => {
  pages.at("/admin/schools/:schoolId/today", showToday);
});

async function showToday(request: PageRequest) {
  const { call, may, path, t } = request;
  const [today] = await Promise.all([
    may("getToday") ? call("getToday", { query: { school: path.schoolId } }) : null,
    call("getSchool"),
  ]);
  const requests = today?.atSchools?.dataRequests.first.map((one) => viewDataRequest(one, request)) ?? [];
  return makePage("today", t("frame.pages.today"), { today, requests });
}
