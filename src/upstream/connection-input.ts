import { checkName } from "../directory/index.ts";
import { AppError } from "../platform/errors.ts";
import { isAddress, isUsable, mutableNames } from "./claims.ts";
import type { ConnectionSettings, RuleField } from "./connection.ts";
import { isEndpoint } from "./metadata.ts";
import { profiles, type Profile } from "./profiles.ts";

const claimName = /^[!-~]{1,100}$/;
const scopeName = /^[!#-[\]-~]{1,100}$/;
const tenants: Readonly<Partial<Record<Profile, { shape: RegExp; like: string }>>> = {
  ENTRA: { shape: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, like: "the id of a tenant, a UUID in lower case" },
  GOOGLE: { shape: /^([a-z0-9-]+\.)+[a-z]{2,}$/, like: "a domain such as goethe.example" },
};

const refuse = (code: string, field: string, message: string): AppError =>
  new AppError("invalid", code, `${field} ${message}.`, undefined, { property: field });

type Checked = Omit<ConnectionSettings, "groupIds">;

/** Checks the whole settings; the issuer of a profile with tenants follows from the tenant. Errors: invalid. */
export function checkSettings<Settings extends Checked>(
  profile: Profile,
  given: Settings,
  allowHttp: boolean,
): Settings {
  const { issuerOf, tenantClaim } = profiles[profile];
  const tenant = tenantClaim === null ? null : given.tenant;
  const form = tenants[profile];
  if (tenant !== null && form !== undefined && !form.shape.test(tenant))
    throw refuse("upstream_tenant_malformed", "tenant", `must look like ${form.like}`);
  // In development, a profile with a fixed issuer can be tried with a provider on this machine.
  const issuer = given.issuer ?? (tenant === null || issuerOf === null ? null : issuerOf(tenant));
  if (issuer !== null) checkIssuer(issuer, allowHttp);
  if (issuerOf !== null && tenant !== null && !allowHttp && issuer !== issuerOf(tenant))
    throw refuse("upstream_issuer_malformed", "issuer", `must be ${issuerOf(tenant)}`);
  checkSchool(given);
  checkClaims(given.subjectClaim, given.ruleClaim, given.ruleField);
  if (!given.scopes.includes("openid") || given.scopes.length > 20 || !given.scopes.every((one) => scopeName.test(one)))
    throw refuse("upstream_scopes_malformed", "scopes", "must name at most 20 scopes, among them openid");
  return { ...given, name: checkName("name", given.name, 60), tenant, issuer, scopes: [...new Set(given.scopes)] };
}

/** An issuer is compared exactly: it is stored as it was typed. */
function checkIssuer(issuer: string, allowHttp: boolean): void {
  if (!isEndpoint(issuer, allowHttp) || issuer.length > 500 || new URL(issuer).search !== "" || issuer.includes("?"))
    throw refuse("upstream_issuer_malformed", "issuer", "must be an https address without a query");
}

function checkSchool({ schoolClaim, schoolValue }: Pick<Checked, "schoolClaim" | "schoolValue">): void {
  if ((schoolClaim === null) !== (schoolValue === null))
    throw refuse("upstream_school_value_missing", "schoolValue", "must be given with schoolClaim, and only with it");
  if (schoolClaim === null || schoolValue === null) return;
  if (!claimName.test(schoolClaim) || isAddress(schoolClaim) || mutableNames.has(schoolClaim))
    throw refuse(
      "upstream_claim_malformed",
      "schoolClaim",
      "must be a claim that the provider sets, such as the id of the school",
    );
  if (schoolValue.trim() !== schoolValue || !isUsable(schoolValue))
    throw refuse("upstream_claim_malformed", "schoolValue", "must be a text without spaces around it");
}

function checkClaims(subjectClaim: string, ruleClaim: string | null, ruleField: RuleField): void {
  if (!claimName.test(subjectClaim) || isAddress(subjectClaim) || mutableNames.has(subjectClaim))
    throw refuse("upstream_claim_malformed", "subjectClaim", "must be a claim that never changes, such as sub");
  if (ruleClaim === null) return;
  if (!claimName.test(ruleClaim)) throw refuse("upstream_claim_malformed", "ruleClaim", "must be the name of a claim");
  if (isAddress(ruleClaim) || (mutableNames.has(ruleClaim) && ruleField !== "USERNAME"))
    throw refuse("upstream_claim_mutable", "ruleClaim", "can change its owner, so that it names nobody safely");
}

const printable = /^[!-~]{1,1000}$/;

/** Errors: invalid. */
export function checkCredentials({
  clientId,
  clientSecret,
}: {
  clientId?: string | null | undefined;
  clientSecret?: string | undefined;
}): void {
  if (clientId !== undefined && clientId !== null && !printable.test(clientId))
    throw refuse("upstream_credentials_malformed", "clientId", "must be the client id without spaces");
  if (clientSecret !== undefined && !printable.test(clientSecret))
    throw refuse("upstream_credentials_malformed", "clientSecret", "must be the secret without spaces");
}
