import type { AdminSchemas } from "../../admin/index.ts";
import { attributeNames, postAndRedirect, unwrapPage, unwrapRecord, unwrapUnlessDone } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";
import { scopeNames } from "./options.ts";

export async function showScopes(request: PageRequest): Promise<PageView> {
  const { api, typed } = request;
  const asked = { app: request.path.clientId, limit: 50, ...request.cursor };
  const [{ record: app, tag }, { items, more }] = await Promise.all([
    unwrapRecord(api.GET("/admin/v1/apps/{clientId}", { params: { path: request.path } })),
    unwrapPage(api.GET("/admin/v1/scope-requests", { params: { query: asked } })),
  ]);
  const isTyped = request.field("form") === "attributes";
  const model = {
    tag,
    requests: items,
    scopes: scopeNames,
    chosen: typed["scope"] ?? [],
    attributes: attributeNames,
    ticked: isTyped ? typedAttributes(request) : app.attributes,
    missing: scopeNames.filter((scope) => !app.scopes.includes(scope) && !scope.startsWith("admin:")),
    waits: items.some(({ state }) => state === "REQUESTED"),
    more: more(scopesAddress(request)),
  };
  return showAppPage(request, { app, page: "scopes", view: "scopes", model });
}

const scopesAddress = (request: PageRequest): string => `${addressOf(request)}/scopes`;
const typedScopes = ({ typed }: PageRequest) => scopeNames.filter((scope) => typed["scope"]?.includes(scope));
const typedAttributes = ({ typed }: PageRequest) => attributeNames.filter((name) => typed["attribute"]?.includes(name));

export const requestScopes = postAndRedirect("scopesRequested", scopesAddress, (request) => {
  const { api, path, field, idempotencyKey } = request;
  return api.POST("/admin/v1/apps/{clientId}/scope-requests", {
    params: { path, header: { "Idempotency-Key": idempotencyKey } },
    body: { scopes: typedScopes(request), reason: field("reason") },
  });
});

async function changeApp(request: PageRequest, body: AdminSchemas["AppUpdate"], done: string): Promise<Redirect> {
  const { api, path, field } = request;
  const params = { path, header: { "If-Match": field("tag") } };
  await unwrapUnlessDone(api.PATCH("/admin/v1/apps/{clientId}", { params, body }), body);
  return { to: scopesAddress(request), done };
}

export const setScopes = (request: PageRequest): Promise<Redirect> =>
  changeApp(request, { scopes: typedScopes(request) }, "scopesSet");

export const setAttributes = (request: PageRequest): Promise<Redirect> =>
  changeApp(request, { attributes: typedAttributes(request) }, "attributesSet");
