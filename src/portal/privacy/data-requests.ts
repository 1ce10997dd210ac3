import { unwrapPage, updateDataRequest, viewDataRequest, type PageRequest, type PageView } from "../frame/index.ts";

const pageOf = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/privacy/requests`;

/** The data requests of a school: open ones by the day on which they are due, closed ones by the page. */
export async function showDataRequests(request: PageRequest): Promise<PageView> {
  const { api, t, path, cursor } = request;
  const list = (state: "OPEN" | "CLOSED", page: object) =>
    unwrapPage(api.GET("/admin/v1/data-requests", { params: { query: { school: path.schoolId, state, ...page } } }));
  const [open, closed] = await Promise.all([
    list("OPEN", { limit: mostOpen }),
    list("CLOSED", { limit: 20, ...cursor }),
  ]);
  const byDueDay = open.items.toSorted((a, b) => (a.daysLeft ?? 0) - (b.daysLeft ?? 0));
  const model = {
    address: pageOf(request),
    people: `/admin/schools/${path.schoolId}/people`,
    open: byDueDay.map((one) => viewDataRequest(one, request)),
    closed: closed.items.map((one) => viewDataRequest(one, request)),
    more: closed.more(pageOf(request)),
    mayUpdate: request.may("updateDataRequest"),
  };
  return { title: t("requests.title"), view: "requests", model };
}

const mostOpen = 1000;

export const updateRequest = updateDataRequest(pageOf);
