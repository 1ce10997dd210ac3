import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

export async function listSchools(request: PageRequest): Promise<PageView> {
  const asked = { app: request.path.clientId, limit: 50, ...request.cursor };
  const { items, more } = await unwrapPage(request.api.GET("/admin/v1/grants", { params: { query: asked } }));
  const model = { grants: items, more: more(`${addressOf(request)}/schools`) };
  return showAppPage(request, { page: "schools", view: "schools", model });
}
