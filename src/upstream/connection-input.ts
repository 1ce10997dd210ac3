import { checkText } from "../directory/index.ts";
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

const refuse = (field: string, message: string, code = "text_malformed"): AppError =>
  new AppError("invalid", code, `${field} ${message}.`);

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
    throw refuse("tenant", `must look like ${form.like}`);
  // In development, a profile with a fixed issuer can be tried with a provider on this machine.
  const issuer = given.issuer ?? (tenant === null || issuerOf === null ? null : issuerOf(tenant));
  if (issuer !== null) checkIssuer(issuer, allowHttp);
  if (issuerOf !== null && tenant !== null && !allowHttp && issuer !== issuerOf(tenant))
    throw refuse("issuer", `must be ${issuerOf(tenant)}`);
  checkSchool(given);
  checkClaims(given.subjectClaim, given.ruleClaim, given.ruleField);
  if (!given.scopes.includes("openid") || given.scopes.length > 20 || !given.scopes.every((one) => scopeName.test(one)))
    throw refuse("scopes", "must name at most 20 scopes, among them openid");
  return { ...given, name: checkText("name", given.name, 60), tenant, issuer, scopes: [...new Set(given.scopes)] };
}

/** An issuer is compared exactly: it is stored as it was typed. */
function checkIssuer(issuer: string, allowHttp: boolean): void {
  if (!isEndpoint(issuer, allowHttp) || issuer.length > 500 || new URL(issuer).search !== "" || issuer.includes("?"))
    throw refuse("issuer", "must be an https address without a query");
}

function checkSchool({ schoolClaim, schoolValue }: Pick<Checked, "schoolClaim" | "schoolValue">): void {
  if ((schoolClaim === null) !== (schoolValue === null))
    throw refuse("schoolValue", "must be given with schoolClaim, and only with it", "upstream_school_value_missing");
  if (schoolClaim === null || schoolValue === null) return;
  if (!claimName.test(schoolClaim) || isAddress(schoolClaim) || mutableNames.has(schoolClaim))
    throw refuse("schoolClaim", "must be a claim that the provider sets, such as the id of the school");
  if (schoolValue.trim() !== schoolValue || !isUsable(schoolValue))
    throw refuse("schoolValue", "must be a text without spaces around it");
}

function checkClaims(subjectClaim: string, ruleClaim: string | null, ruleField: RuleField): void {
  if (!claimName.test(subjectClaim) || isAddress(subjectClaim) || mutableNames.has(subjectClaim))
    throw refuse("subjectClaim", "must be a claim that never changes, such as sub");
  if (ruleClaim === null) return;
  if (!claimName.test(ruleClaim)) throw refuse("ruleClaim", "must be the name of a claim");
  if (isAddress(ruleClaim) || (mutableNames.has(ruleClaim) && ruleField !== "USERNAME"))
    throw refuse("ruleClaim", "can change its owner, so that it names nobody safely", "upstream_claim_mutable");
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
    throw refuse("clientId", "must be the client id without spaces");
  if (clientSecret !== undefined && !printable.test(clientSecret))
    throw refuse("clientSecret", "must be the secret without spaces");
}
