import { checkText } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { checkReceiver, type OutboundPolicy } from "../../platform/outbound/guarded-request.ts";
import { isSectorUsed } from "../pairwise.ts";
import type { ScopeName } from "../token.ts";
import type { CalledUri, Registration } from "./find.ts";

type UriRules = { allowLoopbackHttp: boolean; allowOwnScheme: boolean };

const loopbackHosts = new Set(["127.0.0.1", "[::1]", "localhost"]);

const refuse = (property: string | undefined, message: string): AppError =>
  new AppError("invalid", "uri_refused", message, undefined, { property });

/** `property` is the place in the registration. Errors: invalid uri_refused. Source: RFC 9700, 4.1; RFC 8252, 7.1. */
export function checkUri(property: string, uri: string, rules: UriRules): void {
  const reason = findFault(uri, rules);
  if (reason) throw refuse(property, `An address was refused: it ${reason}.`);
}

function findFault(uri: string, rules: UriRules): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || /[*\\"<>^`{|}]/.test(uri)) return "holds characters that an address must not hold";
  if (!URL.canParse(uri)) return "is not absolute";
  const url = new URL(uri);
  if (uri.includes("#")) return "has a fragment";
  if (url.username || url.password) return "holds credentials";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:" && rules.allowLoopbackHttp && loopbackHosts.has(url.hostname)) return null;
  if (rules.allowOwnScheme && /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/.test(url.protocol)) return null;
  const allowed = [
    "https",
    ...(rules.allowLoopbackHttp ? [`http at ${[...loopbackHosts].join(", ")}`] : []),
    ...(rules.allowOwnScheme ? ["a reversed domain name such as com.example.app"] : []),
  ];
  return `has the scheme ${url.protocol.slice(0, -1).slice(0, 40)}; allowed is ${allowed.join(" or ")}`;
}

/** Resolves the host name, so it must run before the transaction. Errors: invalid uri_refused. */
export async function checkCalledUri(uri: string, policy: OutboundPolicy, property?: string): Promise<CalledUri> {
  await checkReceiver(uri, policy, (why) =>
    refuse(property, `An address that this service calls was refused: ${why}.`),
  );
  return uri as CalledUri;
}

type Wish = { subjectType?: Registration["subjectType"] | undefined; sector?: string | null | undefined };

const sectorRefused = () =>
  invalid("sector_refused", "The sector is not that of an app of yours with the ids of its partner.");

/** Errors: invalid sector_refused unless an app with the ids of its partner has the sector, or is being moved to it. */
export async function checkSector(db: RecordStore, { subjectType, sector = null }: Wish): Promise<void> {
  if (sector === null) return;
  if (subjectType !== "PARTNER" || !(await isSectorUsed(db, sector, { subjectType }))) throw sectorRefused();
}

/** Errors: invalid sector_refused for a sector of other apps than these. */
export async function refuseOthersSector(db: RecordStore, sector: string | undefined, own: ReadonlySet<string>) {
  const ownApps = { subjectType: "PARTNER" as const, clientId: { in: [...own] } };
  if (sector !== undefined && !(await isSectorUsed(db, sector, ownApps))) throw sectorRefused();
}

type Checked = Pick<Registration, "name" | "type" | "scopes" | "redirectUris"> &
  Partial<Omit<Registration, "tokenEndpointAuthMethod" | "publicKeys">> & { clientSecret?: string | undefined };

type Rules = { defaultScopes: readonly ScopeName[] | undefined; allowLoopbackHttp: boolean };

const invalid = (code: string, message: string) => new AppError("invalid", code, message);

/**
 * Errors: invalid client_id_refused, client_secret_refused, public_app, erasures_refused, default_scopes_refused,
 *         roster_scopes_refused, uri_refused and text_*.
 */
export function checkRegistration(app: Checked, { defaultScopes = [], allowLoopbackHttp }: Rules): void {
  checkText("name", app.name);
  checkCredentials(app);
  checkErasures(app);
  checkRosterScopes(app.scopes);
  checkDefaultScopes(app, defaultScopes);
  checkAddresses(app, allowLoopbackHttp);
}

function checkCredentials({ type, clientId, clientSecret, pkceRequired }: Checked): void {
  if (clientId !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(clientId))
    throw invalid("client_id_refused", "A client id has up to 64 characters of A-Z, a-z, 0-9, _ and -.");
  if (clientSecret !== undefined && !/^[A-Za-z0-9_-]{16,}$/.test(clientSecret))
    throw invalid("client_secret_refused", "A client secret has at least 16 characters of A-Z, a-z, 0-9, _ and -.");
  if (type === "PUBLIC" && (clientSecret !== undefined || pkceRequired === false))
    throw invalid("public_app", "A public app has no secret and must use PKCE.");
}

function checkErasures({ type, scopes, confirmsErasures = false }: Checked): void {
  if (!confirmsErasures || (type !== "PUBLIC" && scopes.some((scope) => /^(users|people):read$/.test(scope)))) return;
  const message = "An app that confirms erasures needs users:read or people:read, and a secret or keys of its own.";
  throw invalid("erasures_refused", message);
}

/** Errors: invalid roster_scopes_refused, as OneRoster shows only what the app may read through the IDM API. */
export function checkRosterScopes(scopes: readonly ScopeName[]): void {
  const needed = ["schools:read", "groups:read", "people:read"] as const;
  const missing = needed.filter((scope) => !scopes.includes(scope));
  if (!scopes.includes("oneroster:read") || missing.length === 0) return;
  throw invalid(
    "roster_scopes_refused",
    `oneroster:read needs other scopes too, which are missing: ${missing.join(", ")}.`,
  );
}

function checkDefaultScopes({ type, scopes }: Checked, defaults: readonly ScopeName[]): void {
  const refuse = (message: string) => invalid("default_scopes_refused", message);
  const wrong = defaults.find((scope) => !scopes.includes(scope));
  if (wrong !== undefined)
    throw refuse(`A default scope is one of the scopes of the app, which does not have ${wrong}.`);
  if (type === "PUBLIC" && defaults.length > 0)
    throw refuse("A public app gets no token of its own, so it has no default scopes.");
}

function checkAddresses(app: Checked, allowLoopbackHttp: boolean): void {
  const inBrowser = { allowLoopbackHttp, allowOwnScheme: app.type === "PUBLIC" };
  for (const name of ["redirectUris", "postLogoutRedirectUris"] as const)
    for (const [index, uri] of (app[name] ?? []).entries()) checkUri(`${name}/${index}`, uri, inBrowser);
  for (const name of ["loginUrl", "backchannelLogoutUri", "jwksUri"] as const) {
    const uri = app[name];
    if (uri) checkUri(name, uri, { allowLoopbackHttp, allowOwnScheme: false });
  }
}

/** Checks the second platform name of an app. Errors: invalid scope_platform_refused. */
export function checkScopePlatform(name: string | null | undefined, { platform }: { platform: string }): void {
  const refuse = (message: string) => invalid("scope_platform_refused", message);
  if (name === null || name === undefined) return;
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    throw refuse("A platform name has up to 32 lower-case letters, digits and hyphens, and no hyphen at the start.");
  if (name === platform)
    throw refuse(`${name} is the platform name of this service, which every app may write into scopes.`);
}
