import { makeArea, unwrap, viewDataRequest, type PageView, type PageRequest } from "../frame/index.ts";

/** `/admin/schools/:schoolId/today`: what needs attention at this school. */
export const todayPage = makeArea({ folder: import.meta.dirname, page: "today" }, (pages) => {
  pages.get("/admin/schools/:schoolId/today", showToday);
});

async function showToday(request: PageRequest): Promise<PageView> {
  const { api, may, path, t } = request;
  const [today] = await Promise.all([
    may("getToday") ? unwrap(api.GET("/admin/v1/today", { params: { query: { school: path.schoolId } } })) : null,
    unwrap(api.GET("/admin/v1/schools/{schoolId}", { params: { path } })),
  ]);
  const can = {
    find: may("listPeople"),
    import: may("createImport"),
    giveLogins: may("createSchoolPasswords"),
    grant: may("putGrant"),
    agree: may("acceptAgreement"),
    seeApps: may("getCatalogueApp"),
    dismiss: may("withdrawPasswordRequests"),
  };
  const requests = today?.atSchools?.dataRequests.first.map((one) => viewDataRequest(one, request)) ?? [];
  const model = { today, can, requests, address: `/admin/schools/${path.schoolId}` };
  return { title: t("frame.pages.today"), view: "today", model };
}
