import type { UpstreamProfile } from "../../generated/prisma/enums.ts";

export type Profile = UpstreamProfile;
export type AuthMethod = "client_secret_basic" | "client_secret_post";

export type ProfileFacts = {
  authMethod: AuthMethod;
  /** Asked in this order: the next where the provider refuses the one before. */
  scopeSteps: readonly (readonly string[])[];
  subjectClaim: string;
  /** What `tenant` of a connection is compared with; null where there are no tenants. */
  tenantClaim: "tid" | "hd" | null;
  /** The only issuer, or the one of a tenant; null where each school has its own. */
  issuerOf: ((tenant: string) => string) | null;
  /** What `prompt` makes the provider let another person sign in. */
  promptForAnother: "login" | "select_account";
  /** Whether its ID tokens have `auth_time` where `max_age` is sent, which OpenID Connect requires. */
  tellsAuthTime: boolean;
  /** Claims that are the same person's as long as the account exists, best first: proposals for a rule. */
  ruleClaims: readonly string[];
};

export const profiles: Record<Profile, ProfileFacts> = {
  ISERV: {
    // A Basic header is answered with 400.
    authMethod: "client_secret_post",
    // One scope that was not released ends the login, so that what matters most is given up last.
    scopeSteps: [
      ["openid", "profile", "iserv:uuid", "iserv:groups", "iserv:roles"],
      ["openid", "profile", "uuid", "groups", "roles"],
      ["openid", "profile", "iserv:uuid"],
      ["openid", "profile", "uuid"],
      ["openid", "profile"],
    ],
    subjectClaim: "uuid",
    tenantClaim: null,
    issuerOf: null,
    promptForAnother: "login",
    tellsAuthTime: true,
    ruleClaims: ["import_id", "uuid", "preferred_username"],
  },
  ENTRA: {
    authMethod: "client_secret_post",
    scopeSteps: [["openid", "profile"]],
    // `sub` differs from app to app; `oid` is the same in all of a tenant.
    subjectClaim: "oid",
    tenantClaim: "tid",
    issuerOf: (tenant) => `https://login.microsoftonline.com/${tenant}/v2.0`,
    promptForAnother: "login",
    tellsAuthTime: false,
    ruleClaims: ["employeeid", "extn.employeeId", "oid"],
  },
  GOOGLE: {
    authMethod: "client_secret_post",
    scopeSteps: [["openid", "profile", "email"]],
    subjectClaim: "sub",
    tenantClaim: "hd",
    issuerOf: () => "https://accounts.google.com",
    promptForAnother: "select_account",
    tellsAuthTime: false,
    ruleClaims: ["sub"],
  },
  OIDC: {
    authMethod: "client_secret_basic",
    scopeSteps: [["openid", "profile"]],
    subjectClaim: "sub",
    tenantClaim: null,
    issuerOf: null,
    promptForAnother: "login",
    tellsAuthTime: true,
    ruleClaims: ["sub"],
  },
};
