import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, clientIdOf, readApp, refuseOtherApp, showAppPage } from "./app-page.ts";

export async function listSchools(request: PageRequest): Promise<PageView> {
  refuseOtherApp(request);
  const cursor = request.query("cursor");
  const asked = { app: clientIdOf(request), limit: 50, ...(cursor !== "" && { cursor }) };
  const [app, { items, next }] = await Promise.all([
    readApp(request),
    unwrapPage(request.api.GET("/admin/v1/grants", { params: { query: asked } })),
  ]);
  const more =
    next === null ? null : `${addressOf(request)}/schools?${new URLSearchParams({ cursor: next }).toString()}`;
  return showAppPage(request, { app, page: "schools", view: "schools", model: { grants: items, more } });
}
