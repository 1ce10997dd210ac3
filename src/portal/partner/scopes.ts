import {
  attributeNames,
  unwrap,
  unwrapPage,
  unwrapRecord,
  unwrapUnlessDone,
  type Redirect,
  type PageView,
  type PageRequest,
} from "../frame/index.ts";
import { addressOf, appPath, clientIdOf, showAppPage } from "./app-page.ts";
import { scopeNames } from "./options.ts";

export async function showScopes(request: PageRequest): Promise<PageView> {
  const { api, typed } = request;
  const asked = { app: clientIdOf(request), limit: 50, ...request.cursor };
  const [{ record: app, tag }, { items, more }] = await Promise.all([
    unwrapRecord(api.GET("/admin/v1/apps/{clientId}", { params: { path: appPath(request) } })),
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
    more: more(`${addressOf(request)}/scopes`),
  };
  return showAppPage(request, { app, page: "scopes", view: "scopes", model });
}

export async function requestScopes(request: PageRequest): Promise<Redirect> {
  const { api, field, idempotencyKey, typed } = request;
  await unwrap(
    api.POST("/admin/v1/apps/{clientId}/scope-requests", {
      params: { path: appPath(request), header: { "Idempotency-Key": idempotencyKey } },
      body: { scopes: scopeNames.filter((scope) => typed["scope"]?.includes(scope)), reason: field("reason") },
    }),
  );
  return { to: `${addressOf(request)}/scopes`, done: "scopesRequested" };
}

export async function setScopes(request: PageRequest): Promise<Redirect> {
  const { api, field, typed } = request;
  const body = { scopes: scopeNames.filter((scope) => typed["scope"]?.includes(scope)) };
  const params = { path: appPath(request), header: { "If-Match": field("tag") } };
  await unwrapUnlessDone(api.PATCH("/admin/v1/apps/{clientId}", { params, body }), body);
  return { to: `${addressOf(request)}/scopes`, done: "scopesSet" };
}

const typedAttributes = ({ typed }: PageRequest) => attributeNames.filter((name) => typed["attribute"]?.includes(name));

export async function setAttributes(request: PageRequest): Promise<Redirect> {
  const body = { attributes: typedAttributes(request) };
  const params = { path: appPath(request), header: { "If-Match": request.field("tag") } };
  await unwrapUnlessDone(request.api.PATCH("/admin/v1/apps/{clientId}", { params, body }), body);
  return { to: `${addressOf(request)}/scopes`, done: "attributesSet" };
}
