import type { PersonId } from "../directory/index.ts";

export type ClientId = string & { readonly __clientId: true };

/** The app of the service itself as which staff sign in on the command line; a migration makes it. */
export const commandLineClientId = "schultor-cli" as ClientId;
/** Whether an app is a part of the service, which a release changes. */
export const isBuiltIn = (clientId: ClientId): boolean => clientId === commandLineClientId;

/** On the wire `urn:<platform>:idm:v1:` or `urn:<platform>:admin:v1:` precedes API scopes; see scope.ts. */
export const scopeNames = [
  "openid",
  "offline_access",
  "profile",
  "school",
  "role",
  "groups",
  "pseudonym",
  "school_name",
  "school_official_id",
  "school_location",
  "school_address",
  "schooling_level",
  "person-info",
  "schools:read",
  "users:read",
  "groups:read",
  "people:read",
  "oneroster:read",
  "admin:read",
  "admin:write",
] as const;

export type ScopeName = (typeof scopeNames)[number];

/** Whose names an app may read: "some" if schools withhold those of their people. */
export type NamesRead = "all" | "some" | "none";

/** Whether an app knows people by the ids of this service or by its own. */
export type IdKind = "shared" | "own";

/** `personId` is null in the app context; `hasSecondFactor` is about the person's sign-in. */
export type AccessToken = {
  clientId: ClientId;
  personId: PersonId | null;
  scopes: ReadonlySet<ScopeName>;
  hasSecondFactor: boolean;
  namesRead: NamesRead;
  ids: IdKind;
};

/** `clientId` is the app that an invalid token was issued to, if that is still known. */
export type TokenCheck =
  { kind: "valid"; token: AccessToken } | { kind: "expired" | "revoked" | "unknown"; clientId?: ClientId | undefined };

export type CheckAccessToken = (bearer: string) => Promise<TokenCheck>;

/** OneRoster's own names of its one scope; they name no platform. */
const oneRosterScopes = ["v1p2", "v1p1"].flatMap((version) =>
  ["roster", "roster-core"].map((scope) => `https://purl.imsglobal.org/spec/or/${version}/scope/${scope}.readonly`),
);

/** `schools:read` → `urn:<platform>:idm:v1:schools:read`; `openid` stays `openid`. */
export function scopeToWire(platform: string, scope: ScopeName): string {
  if (!scope.includes(":")) return scope;
  if (scope === "oneroster:read") return oneRosterScopes[0]!;
  return scope.startsWith("admin:")
    ? `urn:${platform}:admin:v1:${scope.slice("admin:".length)}`
    : `urn:${platform}:idm:v1:${scope}`;
}

const platformName = /^urn:([^:]+):/;
const scopesOnWire = new Map<string, ScopeName>([
  ...scopeNames.map((scope) => [scopeToWire("*", scope), scope] as const),
  ...oneRosterScopes.map((scope) => [scope, "oneroster:read"] as const),
]);

/** Whether a scope is one of OneRoster's for records that the service does not have. */
export const isOneRosterScopeNotOffered = (wire: string): boolean =>
  /^https?:\/\/purl\.imsglobal\.org\/spec\/or\/v1p[12]\/scope\/(roster-demographics|(resource|gradebook)(-core)?)\.[a-z]+$/.test(
    wire,
  );

/** Null for an unknown scope, or one of a platform not in `platforms` if given. OneRoster's may begin with `http:`. */
export function scopeFromWire(wire: string, platforms?: readonly string[]): ScopeName | null {
  const platform = platformName.exec(wire)?.[1];
  if (platforms && platform !== undefined && !platforms.includes(platform)) return null;
  return scopesOnWire.get(wire.replace(platformName, "urn:*:").replace(/^http:/, "https:")) ?? null;
}

export function scopeOfContract(wire: string): ScopeName {
  const scope = scopeFromWire(wire);
  if (scope === null) throw new Error(`The contract names a scope that no app can be granted: ${wire}`);
  return scope;
}
