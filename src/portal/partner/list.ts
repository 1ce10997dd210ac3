import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, readForm, refuseField, type PageRequest, type FieldName } from "../frame/index.ts";
import { showAppPage, type App } from "./app-page.ts";
import { listScopes, scopesOf } from "./scopes.ts";
import { enumOf } from "../../platform/contract-texts.ts";
import { listKeys } from "../../platform/crypto/public-key.ts";

export async function listOwn(request: PageRequest) {
  const { call, list, query, t } = request;
  const search = query("search");
  const [{ items, more }, requests, today] = await Promise.all([
    list("listApps", { query: { search } }),
    call("listScopeRequests", { query: { state: "REQUESTED", limit: 100 } }),
    call("getToday"),
  ]);
  return makePage("list", t("frame.pages.partner"), {
    apps: items.map((app) => ({ ...app, waits: requests.some(({ clientId }) => clientId === app.clientId) })),
    search,
    overdue: today.overdueErasures.first,
    failing: today.failingEndpoints?.first ?? [],
    more,
  });
}

export async function showNew(request: PageRequest) {
  return makePage("new", request.t("words.newApp"), {
    isOperator: request.permissions.reachesAll,
    scopes: listScopes(),
    scopesOf: scopesOf(request),
    ids: await listIds(request),
  });
}

/** The ids of people to choose from for a new app: its own, those of each sector, or for operators the shared ones. */
export async function listIds({ call, permissions }: PageRequest): Promise<{ value: string; app?: string }[]> {
  const apps = await call("listApps", { query: { limit: 100 } });
  const sectors = new Map(
    apps.flatMap(({ subjectType, sector, name }) => (subjectType === "PARTNER" ? [[sector!, name] as const] : [])),
  );
  return [
    { value: "APP" },
    { value: "PARTNER" },
    ...[...sectors].map(([value, app]) => ({ value, app })),
    ...(permissions.reachesAll ? [{ value: "SHARED" }] : []),
  ];
}

export function readIds(value: string): Pick<AdminSchemas["AppInput"], "subjectType" | "sector"> {
  if (value === "PARTNER" || value === "SHARED") return { subjectType: value };
  return value === "" || value === "APP" ? { subjectType: "APP" } : { subjectType: "PARTNER", sector: value };
}

export async function createApp(request: PageRequest) {
  const { call, field, permissions, t } = request;
  const isOperator = permissions.reachesAll;
  const scopes = isOperator ? ([["scope", "scopes"]] as const) : [];
  const made = await call("createApp", {
    body: {
      ...readForm(request, "createApp", ["name", "clientId", ...scopes]),
      ...(field("provider") !== "" && { provider: field("provider") }),
      ...readIds(field("ids")),
      type: field("type") === "PUBLIC" ? "PUBLIC" : "CONFIDENTIAL",
      pkceRequired: true,
      idTokenAlgorithm: "RS256",
      schulconnexSpelling: "V1_4",
    },
  });
  const address = `/partner/apps/${encodeURIComponent(made.clientId)}`;
  return makePage("made", t("new.made"), { made, name: field("name"), isOperator, address });
}

const fields: readonly FieldName[] = [
  ...["name", "provider", "privacyUrl", "supportAddress", "redirectUris", "postLogoutRedirectUris", "loginUrl"],
  ...["backchannelLogoutUri", "jwksUri", "scopePlatform", "pkceRequired", "confirmsErasures", "idTokenAlgorithm"],
  "schulconnexSpelling",
  ["descriptionDe", "description/de"],
  ["descriptionEn", "description/en"],
  ["purposeDe", "purpose/de"],
  ["purposeEn", "purpose/en"],
  ["scope", "defaultScopes"],
];

/** A public app has no secret, and no fields for one. Errors: Refused public_key_refused. */
export function readRegistration(request: PageRequest): AdminSchemas["AppUpdate"] {
  const { field } = request;
  const text = field("publicKeys");
  const keys = text === "" ? [] : listKeys(text);
  if (keys === null || keys.some((key) => "d" in key)) throw refuseField("publicKeys", "public_key_refused");
  const read = readForm(request, "updateApp", fields);
  const isPrivate = field("type") !== "PUBLIC";
  const method = isPrivate ? field("tokenEndpointAuthMethod") || "client_secret_basic" : "none";
  return {
    ...read,
    tokenEndpointAuthMethod: method as App["tokenEndpointAuthMethod"],
    publicKeys: keys as App["publicKeys"],
    pkceRequired: read.pkceRequired === true || !isPrivate,
  };
}

export async function showRegistration(request: PageRequest) {
  const { record, tag } = await request.getRecord("getApp");
  const model = {
    app: record,
    keys: record.publicKeys.length === 0 ? "" : JSON.stringify({ keys: record.publicKeys }, null, 2),
    tag,
    scopesOf: scopesOf(request),
    // Only a public app has none.
    authMethods: enumOf("updateApp", "tokenEndpointAuthMethod").filter((method) => method !== "none"),
  };
  return showAppPage(request, "registration", model, { dropsTyped: request.refused?.code === "precondition_failed" });
}
