import { takePage, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, appPath, readApp, refuseOtherApp, showAppPage } from "./place.ts";

const requestIds = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;

/** The last calls of the app, found by the id of a request. */
export async function listRequests(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { api, query } = visit;
  const [requestId, cursor, onlyRefused] = [query("request"), query("cursor"), query("refused") === "yes"];
  const isFit = requestId === "" || requestIds.test(requestId);
  const asked = {
    limit: 50,
    ...(requestId !== "" && { "request-id": requestId }),
    ...(onlyRefused && { "only-refused": true }),
    ...(cursor !== "" && { cursor }),
  };
  const [app, { items, next }] = await Promise.all([
    readApp(visit),
    // Nothing has an id that cannot be one.
    isFit
      ? takePage(api.GET("/admin/v1/apps/{clientId}/api-requests", { params: { path: appPath(visit), query: asked } }))
      : { items: [], next: null },
  ]);
  const filters = { ...(requestId !== "" && { request: requestId }), ...(onlyRefused && { refused: "yes" }) };
  const following = new URLSearchParams({ ...filters, cursor: next ?? "" }).toString();
  const more = next === null ? null : `${addressOf(visit)}/requests?${following}`;
  const model = { requests: items, requestId, onlyRefused, more };
  return showAppPage(visit, { app, page: "requests", view: "requests", model });
}
