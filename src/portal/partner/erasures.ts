import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

export async function listErasures(request: PageRequest): Promise<PageView> {
  const asked = { app: request.path.clientId, limit: 50, ...request.cursor };
  const { items, more } = await unwrapPage(request.api.GET("/admin/v1/erasures", { params: { query: asked } }));
  const model = { schools: items, more: more(`${addressOf(request)}/erasures`) };
  return showAppPage(request, { page: "erasures", view: "erasures", model });
}
