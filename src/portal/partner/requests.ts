import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

const requestIds = /^[A-Za-z0-9][A-Za-z0-9._-]{5,63}$/;

/** The search for a request; with `isFit` false nothing can be found. */
export function readRequestId({ query }: PageRequest): { requestId: string; isFit: boolean } {
  const requestId = query("request").trim();
  return { requestId, isFit: requestId === "" || requestIds.test(requestId) };
}

export async function listRequests(request: PageRequest): Promise<PageView> {
  const { api, path, query } = request;
  const { requestId, isFit } = readRequestId(request);
  const onlyRefused = query("refused") === "yes";
  const asked = {
    limit: 50,
    ...(requestId !== "" && { "request-id": requestId }),
    ...(onlyRefused && { "only-refused": true }),
    ...request.cursor,
  };
  const { items, more } = isFit
    ? await unwrapPage(api.GET("/admin/v1/apps/{clientId}/api-requests", { params: { path, query: asked } }))
    : { items: [], more: () => null };
  const filters = { ...(requestId !== "" && { request: requestId }), ...(onlyRefused && { refused: "yes" }) };
  const next = more(`${addressOf(request)}/requests`, filters);
  const model = { requests: items, requestId, onlyRefused, more: next };
  return showAppPage(request, { page: "requests", view: "requests", model });
}
