import {
  attributeNames,
  take,
  takePage,
  takeRecord,
  takeUnlessDone,
  type Gone,
  type Shown,
  type Visit,
} from "../frame/index.ts";
import { addressOf, appPath, clientIdOf, refuseOtherApp, showAppPage } from "./place.ts";
import { scopeNames } from "./words.ts";

/** What the app may ask for, and what was asked of the operator. */
export async function showScopes(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { api, query, typed } = visit;
  const cursor = query("cursor");
  const asked = { app: clientIdOf(visit), limit: 50, ...(cursor !== "" && { cursor }) };
  const [{ record: app, tag }, { items, next }] = await Promise.all([
    takeRecord(api.GET("/admin/v1/apps/{clientId}", { params: { path: appPath(visit) } })),
    takePage(api.GET("/admin/v1/scope-requests", { params: { query: asked } })),
  ]);
  const isTyped = visit.field("form") === "attributes";
  const model = {
    tag,
    requests: items,
    scopes: scopeNames,
    chosen: typed["scope"] ?? [],
    attributes: attributeNames,
    ticked: isTyped ? typedAttributes(visit) : app.attributes,
    missing: scopeNames.filter((scope) => !app.scopes.includes(scope) && !scope.startsWith("admin:")),
    waits: items.some(({ state }) => state === "REQUESTED"),
    more: next === null ? null : `${addressOf(visit)}/scopes?${new URLSearchParams({ cursor: next }).toString()}`,
  };
  return showAppPage(visit, { app, page: "scopes", view: "scopes", model });
}

export async function requestScopes(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const { api, field, once, typed } = visit;
  await take(
    api.POST("/admin/v1/apps/{clientId}/scope-requests", {
      params: { path: appPath(visit), header: { "Idempotency-Key": once } },
      body: { scopes: scopeNames.filter((scope) => typed["scope"]?.includes(scope)), reason: field("reason") },
    }),
  );
  return { to: `${addressOf(visit)}/scopes`, done: "scopesRequested" };
}

/** What an operator gives without a request. */
export async function setScopes(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const { api, field, typed } = visit;
  const body = { scopes: scopeNames.filter((scope) => typed["scope"]?.includes(scope)) };
  const params = { path: appPath(visit), header: { "If-Match": field("tag") } };
  await takeUnlessDone(api.PATCH("/admin/v1/apps/{clientId}", { params, body }), body);
  return { to: `${addressOf(visit)}/scopes`, done: "scopesSet" };
}

const typedAttributes = ({ typed }: Visit) => attributeNames.filter((name) => typed["attribute"]?.includes(name));

/** What the app may read beside the rest of a record, as the operator says. */
export async function setAttributes(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const body = { attributes: typedAttributes(visit) };
  const params = { path: appPath(visit), header: { "If-Match": visit.field("tag") } };
  await takeUnlessDone(visit.api.PATCH("/admin/v1/apps/{clientId}", { params, body }), body);
  return { to: `${addressOf(visit)}/scopes`, done: "attributesSet" };
}
