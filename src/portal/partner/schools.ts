import { takePage, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, clientIdOf, readApp, refuseOtherApp, showAppPage } from "./place.ts";

/** What schools give the app. */
export async function listSchools(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const cursor = visit.query("cursor");
  const asked = { app: clientIdOf(visit), limit: 50, ...(cursor !== "" && { cursor }) };
  const [app, { items, next }] = await Promise.all([
    readApp(visit),
    takePage(visit.api.GET("/admin/v1/grants", { params: { query: asked } })),
  ]);
  const more = next === null ? null : `${addressOf(visit)}/schools?${new URLSearchParams({ cursor: next }).toString()}`;
  return showAppPage(visit, { app, page: "schools", view: "schools", model: { grants: items, more } });
}
