import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, clientIdOf, readApp, showAppPage } from "./app-page.ts";

export async function listSchools(request: PageRequest): Promise<PageView> {
  const asked = { app: clientIdOf(request), limit: 50, ...request.cursor };
  const [app, { items, more }] = await Promise.all([
    readApp(request),
    unwrapPage(request.api.GET("/admin/v1/grants", { params: { query: asked } })),
  ]);
  const model = { grants: items, more: more(`${addressOf(request)}/schools`) };
  return showAppPage(request, { app, page: "schools", view: "schools", model });
}
