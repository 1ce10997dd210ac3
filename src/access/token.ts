import type { PersonId } from "../directory/index.ts";
import type { IdKind } from "./pairwise.ts";

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
  "schools:read",
  "users:read",
  "groups:read",
  "people:read",
  "admin:read",
  "admin:write",
] as const;

export type ScopeName = (typeof scopeNames)[number];

/** Of whom an app may read names: "some" if schools withhold those of their people. */
export type NamesRead = "all" | "some" | "none";

/** `personId` is null in the app context; `hasSecondFactor` is about the person's sign-in. */
export type AccessToken = {
  clientId: ClientId;
  personId: PersonId | null;
  scopes: ReadonlySet<ScopeName>;
  hasSecondFactor: boolean;
  namesRead: NamesRead;
  /** By which ids the app knows people. */
  ids: IdKind;
};

/** `clientId` is the app that an invalid token was issued to, if that is still known. */
export type TokenCheck =
  { kind: "valid"; token: AccessToken } | { kind: "expired" | "revoked" | "unknown"; clientId?: ClientId | undefined };

export type CheckAccessToken = (bearer: string) => Promise<TokenCheck>;
