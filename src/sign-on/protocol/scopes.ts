import { isOneRosterScopeNotOffered, scopeFromWire, scopeNames, scopeToWire } from "../../access/index.ts";
import type { AppAttribute, ScopeName, WithheldItem, SignOnRight } from "../../access/index.ts";
import { nearestOf } from "../../platform/text/did-you-mean.ts";
import { adminScopesOf, holdsRoleBeyondHome } from "../../staff/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Db, RecordStore } from "../../platform/database/db.ts";
import { makeFind, table } from "../../platform/database/sql.ts";
import type { StaffSecondFactor } from "./deps.ts";
import { hasPassword, hasSecondFactor, hasSecondFactors, hasStaffFactor } from "../../accounts/index.ts";

/** `scope` as the library has it, and the platform names that the app may write into scopes. */
type Client = { scope?: string | undefined; scopePlatforms: readonly string[] };

/** Many clients request these by default. */
const ignoredScopes = new Set(["email", "phone", "address"]);

export const listScopes = (requested: string): string[] =>
  requested
    .split(" ")
    .filter((scope) => scope !== "" && !ignoredScopes.has(scope) && !isOneRosterScopeNotOffered(scope));

/** Why the app may not request the scope; null if it may. */
export function findScopeProblem(
  { scope: granted = "", scopePlatforms }: Client,
  requested: string,
): "scope_unknown" | "scope_platform" | "scope_not_given" | null {
  const name = scopeFromWire(requested);
  if (name === null) return "scope_unknown";
  if (scopeFromWire(requested, scopePlatforms) === null) return "scope_platform";
  return granted.split(" ").some((scope) => scopeFromWire(scope) === name) ? null : "scope_not_given";
}

/** Why the scope is refused, in words that OAuth lets a description have; null if the app may request it. */
export function explainScope(client: Client, requested: string): string | null {
  const problem = findScopeProblem(client, requested);
  if (problem === null) return null;
  if (problem === "scope_not_given") return `the app was not granted the scope ${requested}`;
  const unknown = `there is no scope ${requested}`;
  if (/[,;+|]|%20/.test(requested)) return `${unknown}: scopes are separated by spaces`;
  const meant = findMeant(client, requested);
  return meant === null ? unknown : `${unknown}: did you mean ${meant}?`;
}

const prefix = /^urn:([^:]*):/i;

/** The full name of the scope whose name, in full or in short, is nearest. */
function findMeant({ scopePlatforms }: Client, requested: string): string | null {
  const named = prefix.exec(requested)?.[1] ?? "";
  const platform = scopePlatforms.includes(named) ? named : (scopePlatforms[0] ?? "");
  const fullNames = new Map(
    scopeNames.flatMap((name) => {
      const full = scopeToWire(platform, name);
      return [name, full.replace(prefix, "")].map((spelling) => [spelling, full]);
    }),
  );
  const near = nearestOf(requested.replace(prefix, ""), [...fullNames.keys()]);
  return near === null ? null : fullNames.get(near)!;
}

/** Scopes that give an app nothing without an attribute. */
const attributeOf: { readonly [Scope in ScopeName]?: AppAttribute } = {
  profile: "PERSON_NAME",
  school_address: "SCHOOL_ADDRESS",
  school_location: "SCHOOL_LOCATION",
  school_official_id: "SCHOOL_OFFICIAL_ID",
  schooling_level: "SCHOOLING_LEVEL",
};

/** A scope lacks its attribute: the app gets nothing by it. */
export function lacksAttribute(scope: ScopeName, lacks: (attribute: AppAttribute) => boolean): boolean {
  const attribute = attributeOf[scope];
  return attribute !== undefined && lacks(attribute);
}

type Params = { attributes: readonly AppAttribute[]; withheld: readonly WithheldItem[] | null };

/** A scope by which the app gets nothing of this person now, so that no page asks for it and no answer covers it. */
export const isWithoutEffect = (scope: ScopeName, { attributes, withheld }: Params): boolean =>
  withheld?.includes(scope) === true ||
  lacksAttribute(scope, (name) => !attributes.includes(name) || withheld?.includes(name) === true);

const adminScopes = ["admin:read", "admin:write"] as const satisfies ScopeName[];

/** Admin scopes that a person at no school does not get, because none of their roles gives them. */
export function refusedScopes(right: SignOnRight): (typeof adminScopes)[number][] {
  if (right.kind === "refused" || right.schools.length > 0) return [];
  const allowed = adminScopesOf(right.staffRoles);
  return adminScopes.filter((scope) => !allowed.includes(scope));
}

export function withoutRefused(right: SignOnRight, scopes: readonly ScopeName[]): ScopeName[] {
  const refused: readonly ScopeName[] = refusedScopes(right);
  return scopes.filter((scope) => !refused.includes(scope));
}

type Deps = { db: RecordStore; staffSecondFactor: StaffSecondFactor };

export const asksForAdmin = (scopes: Iterable<string>): boolean =>
  [...scopes].some((scope) => scopeFromWire(scope)?.startsWith("admin:"));

type SignOnRequest = { personId: PersonId; scopes: Iterable<string>; amr: readonly string[] | undefined };

/**
 * Whether scopes of the admin API are requested in a session that does not open them: one by login card, or one by a
 * school's login if the person has a role beyond that school.
 */
export async function lacksStaffFactor(
  { db, clock }: { db: Db; clock: Clock },
  { personId, scopes, amr }: SignOnRequest,
): Promise<boolean> {
  if (hasPassword(amr) || !asksForAdmin(scopes)) return false;
  if (!hasStaffFactor(amr)) return true;
  const [person] = await findBeyondHome(db.pool, { personId, now: clock() });
  return person?.isHeld === true;
}

const person = table("person");

type Held = { personId: PersonId; now: Date };

const findBeyondHome = makeFind<{ isHeld: boolean }, Held>("sign-on.holdsRoleBeyondHome")`
  SELECT ${({ now }) => holdsRoleBeyondHome(person, now)} AS "isHeld"
  FROM ${person} WHERE ${person.id} = ${"personId"}`;

export const needsSecondFactor = async ({ db, staffSecondFactor }: Deps, personId: PersonId): Promise<boolean> =>
  staffSecondFactor === "required" || hasSecondFactors(db, personId);

export async function lacksSecondFactor(deps: Deps, { personId, scopes, amr }: SignOnRequest): Promise<boolean> {
  if (hasSecondFactor(amr) || !asksForAdmin(scopes)) return false;
  return needsSecondFactor(deps, personId);
}
