import type { PersonId } from "../directory/index.ts";

export type ClientId = string & { readonly __clientId: true };

/**
 * Scope names as the record keeps them, without the platform: the wire form is `urn:<platform>:idm:v1:` + name for
 * those of the IDM API, `urn:<platform>:` + `admin:v1:read` or `admin:v1:write` for those of the admin API.
 */
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
  "schools:read",
  "users:read",
  "groups:read",
  "people:read",
  "admin:read",
  "admin:write",
] as const;

export type ScopeName = (typeof scopeNames)[number];

/**
 * What a presented access token stands for.
 *
 * Shape: `personId` null in the app context (client credentials), the signed-in person in the user context;
 *        `hasSecondFactor` where this person had proved one when they signed in.
 */
export type AccessToken = {
  clientId: ClientId;
  personId: PersonId | null;
  scopes: ReadonlySet<ScopeName>;
  hasSecondFactor: boolean;
  /** The app was granted the names of people. */
  readsNames: boolean;
};

/** `unknown` covers revoked, malformed and never issued. */
export type TokenCheck = { kind: "valid"; token: AccessToken } | { kind: "expired" } | { kind: "unknown" };

export type CheckAccessToken = (bearer: string) => Promise<TokenCheck>;
