import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

const requestIds = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

export async function listRequests(request: PageRequest): Promise<PageView> {
  const { api, path, query } = request;
  const [requestId, onlyRefused] = [query("request"), query("refused") === "yes"];
  const isFit = requestId === "" || requestIds.test(requestId);
  const asked = {
    limit: 50,
    ...(requestId !== "" && { "request-id": requestId }),
    ...(onlyRefused && { "only-refused": true }),
    ...request.cursor,
  };
  // An invalid id finds nothing.
  const { items, more } = isFit
    ? await unwrapPage(api.GET("/admin/v1/apps/{clientId}/api-requests", { params: { path, query: asked } }))
    : { items: [], more: () => null };
  const filters = { ...(requestId !== "" && { request: requestId }), ...(onlyRefused && { refused: "yes" }) };
  const next = more(`${addressOf(request)}/requests`, filters);
  const model = { requests: items, requestId, onlyRefused, more: next };
  return showAppPage(request, { page: "requests", view: "requests", model });
}
