import type { Rule } from "./connection.ts";
import type { Profile } from "./profiles.ts";

/** The claims of an ID token and of userinfo, as they arrived. */
export type Claims = Readonly<Record<string, unknown>>;

/** Spellings of one claim: older and newer servers of IServ, and libraries that replace the colon. */
const families = ["uuid", "groups", "roles"].map((name) => [name, `iserv:${name}`, `iserv_${name}`]);

const spellingsOf = (name: string): string[] => [name, ...(families.find((family) => family.includes(name)) ?? [])];

/** Own properties only; undefined for a claim that is absent, which says nothing. */
export function readClaim(claims: Claims, name: string): unknown {
  const present = spellingsOf(name).find((spelling) => Object.hasOwn(claims, spelling));
  return present === undefined ? undefined : claims[present];
}

const mostClaims = 100;
const longestName = 200;

/** At most a hundred claims, those that are needed before others; `more` counts the rest. */
export function limitClaims(claims: Claims, needed: readonly string[]): { claims: Claims; more: number } {
  const names = Object.keys(claims);
  const first = new Set(needed.flatMap(spellingsOf));
  const known = names.filter((name) => first.has(name));
  for (const name of names) {
    if (known.length >= mostClaims) break;
    if (name.length <= longestName && !first.has(name)) known.push(name);
  }
  return { claims: Object.fromEntries(known.map((name) => [name, claims[name]])), more: names.length - known.length };
}

// PostgreSQL indexes no longer values and stores no NUL; no real account is named like that.
const longestText = 500;
export const isUsable = (text: string): boolean =>
  text !== "" && text.length <= longestText && text.isWellFormed() && !/\p{Cc}/u.test(text.trim());

/** The text of a claim with a single value: text, number, object with an id, or a list of just one of them. */
export function readText(claims: Claims, name: string): string | null {
  const [value, ...others] = textsOf(readClaim(claims, name));
  return value !== undefined && others.length === 0 && isUsable(value) ? value : null;
}

/** Names of an account that people choose or that change owners. */
export const mutableNames = new Set(["upn", "preferred_username", "unique_name", "nickname"]);
/** Addresses of e-mail name nobody, however a provider spells the claim. */
export const isAddress = (claim: string): boolean => /mail/i.test(claim);

/**
 * The value of the claim that a rule is about. A guest in a tenant of Entra has the user name of another tenant, where
 * everybody chooses any name: `idp` says that the account is from elsewhere.
 */
export const readRuleValue = (
  claims: Claims,
  { profile, ruleClaim }: Pick<Rule, "ruleClaim"> & { profile: Profile },
) =>
  ruleClaim === null || (profile === "ENTRA" && mutableNames.has(ruleClaim) && Object.hasOwn(claims, "idp"))
    ? null
    : readText(claims, ruleClaim);

/** Properties that identify an object such as IServ's `{id, act, name, uuid, displayName}`, the most stable first. */
const namesInObjects = ["uuid", "id", "act", "value", "name", "displayName"];

/** All values of a claim as text. Null, booleans and deeper nested values have no text. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : textsOf(one)));
  if (typeof value === "string") return [value];
  if (typeof value === "number") return Number.isSafeInteger(value) ? [String(value)] : [];
  if (typeof value !== "object" || value === null) return [];
  const members = value as Claims;
  const name = namesInObjects.find((one) => Object.hasOwn(members, one) && typeof members[one] !== "object");
  return name === undefined ? [] : textsOf(members[name]);
}

/** Whether the account is of the school: always, where the provider serves this school only. */
export const isOfSchool = (
  claims: Claims,
  { schoolClaim, schoolValue }: { schoolClaim: string | null; schoolValue: string | null },
): boolean => schoolClaim === null || textsOf(readClaim(claims, schoolClaim)).some((text) => text === schoolValue);

/** What the provider calls the person, for the staff; null if it does not say. */
export function readDisplayName(claims: Claims): string | null {
  const parts = [readText(claims, "given_name"), readText(claims, "family_name")].filter((part) => part !== null);
  return readText(claims, "name") ?? (parts.length > 0 ? parts.join(" ") : null);
}

/** Claims about the token, not about the account. */
const ofTheToken = new Set(
  "iss aud exp iat nbf nonce azp auth_time at_hash c_hash s_hash jti sid rat aio rh uti ver acr amr".split(" "),
);
const mostBytes = 4096;

/** The claims that a rule can use: small ones only. */
export function keepClaims(claims: Claims): Claims {
  const sized = Object.entries(claims)
    .filter(([name]) => !ofTheToken.has(name))
    .map(([name, value]) => ({ name, value, size: JSON.stringify(value).length }));
  const small: [string, unknown][] = [];
  let total = 0;
  for (const { name, value, size } of sized.sort((a, b) => a.size - b.size)) {
    total += name.length + size;
    if (total > mostBytes) break;
    small.push([name, value]);
  }
  return Object.fromEntries(small);
}
