import { personNameOf, type PersonId, type PersonName } from "../directory/index.ts";
import type { Store } from "../platform/database/db.ts";
import { isAddress, keepClaims, readDisplayName, readText, textsOf, type Claims } from "./claims.ts";
import type { RuleField } from "./connection.ts";
import type { AccountRefusal } from "./failures.ts";
import { findPersonOf, type MatchingRule } from "./find-link.ts";
import { profiles } from "./profiles.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import { findMatches } from "./roster.ts";

/** A claim and a field of the roster, and how many people the account would be. */
export type Suggestion = { claim: string; field: RuleField; matches: number };

export type TestedSignIn = {
  at: Date;
  issuer: string;
  /** Null where the claim that names the account did not arrive. */
  subject: string | null;
  scopes: string[];
  claims: { name: string; values: string[] }[];
  /** How many more there were. */
  moreClaims: number;
  /** What the present rule does with it. */
  match:
    | { kind: "one"; personId: PersonId; name: PersonName | null }
    | { kind: "refused"; code: AccountRefusal; matches: number };
  /** Rules that would match somebody, those that match exactly one first. */
  suggestions: Suggestion[];
};

type Account = { issuer: string; subject: string | null; claims: Claims };
/** `moreClaims` arrived too and were not kept. */
export type Arrived = Account & { moreClaims: number; scopes: readonly string[] };

/** Says what arrived at a test sign-in, and what rules would do with it. Signs nobody in and links nobody. */
export async function reportTest(
  db: Store,
  connection: ReadyConnection,
  { issuer, subject, claims, moreClaims, scopes, now: at }: Arrived & { now: Date },
): Promise<TestedSignIn> {
  let size = 0;
  const all = Object.entries(claims).map(([name, value]) => ({ name, values: shownOf(value) }));
  const fitting = all.filter(({ values }) => (size += values.join().length) <= mostShown);
  return {
    at,
    issuer,
    subject,
    scopes: [...scopes],
    claims: fitting,
    moreClaims: moreClaims + all.length - fitting.length,
    ...(await tryRules(db, connection, { issuer, subject, claims, now: at })),
  };
}

/** What the present rule and others do with the account. */
export async function tryRules(
  db: Store,
  connection: MatchingRule,
  arrived: Account & { now: Date },
): Promise<Pick<TestedSignIn, "match" | "suggestions">> {
  const suggestions = await suggestRules(db, connection, arrived.claims);
  return { match: await matchOf(db, connection, arrived), suggestions };
}

const mostValues = 50;
const longestValue = 300;
/** Units: characters. */
const mostShown = 40_000;

function shownOf(value: unknown): string[] {
  const texts = textsOf(Array.isArray(value) ? value.slice(0, mostValues) : value);
  const values = texts.length > 0 || Array.isArray(value) ? texts : [JSON.stringify(value)];
  return values.map((text) => text.slice(0, longestValue));
}

async function matchOf(
  db: Store,
  connection: MatchingRule,
  { issuer, subject, claims, now }: Account & { now: Date },
): Promise<TestedSignIn["match"]> {
  if (subject === null) return { kind: "refused", code: "CLAIM_MISSING", matches: 0 };
  const match = await findPersonOf(db, { connection, account: { issuer, subject, claims }, now });
  const refused = match.kind === "refused" ? { kind: match.kind, code: match.code, matches: match.matches } : null;
  const personId = match.kind === "refused" ? await findOnly(db, connection, match) : match.facts.personId;
  if (personId === null) return refused!;
  const select = { firstFull: true, firstCall: true, last: true };
  const person = await db.prisma.person.findUnique({ where: { id: personId }, select });
  const name = person && personNameOf(person);
  // A set-up link shows nothing about other people: no name, no block, no class and no link.
  const isOwn = name !== null && isNameOf(claims, name);
  return isOwn && refused !== null ? refused : { kind: "one", personId, name: isOwn ? name : null };
}

/** Whom the rule names although the account is refused; null for nobody or several. */
async function findOnly(
  db: Store,
  { schoolId, ...rule }: MatchingRule,
  { matches, value }: { matches: number; value: string | null },
): Promise<PersonId | null> {
  if (matches !== 1 || value === null) return null;
  const [match] = await findMatches(db, { schoolId, values: [value], rule });
  return match!.personIds[0] ?? null;
}

const plain = (text: string): string => text.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean).join(" ");

function isNameOf(claims: Claims, { firstFull, firstCall, last }: PersonName): boolean {
  const [first, family] = [readText(claims, "given_name"), readText(claims, "family_name")];
  const own = [readDisplayName(claims), first !== null && family !== null ? `${first} ${family}` : null];
  const names = [firstFull, firstCall].map((one) => plain(`${one} ${last}`));
  return own.some((name) => name !== null && names.includes(plain(name)));
}

/** Claims tried as rules; the usual claims of the provider come first. */
const mostTried = 40;

const ruleFields: readonly RuleField[] = ["SOURCE_SYSTEM_IDENTIFIER", "USERNAME", "PERSON_ID"];

async function suggestRules(
  db: Store,
  { schoolId, profile, normalisations }: MatchingRule,
  claims: Claims,
): Promise<Suggestion[]> {
  const readable = keepClaims(claims);
  const known = profiles[profile].ruleClaims.filter((name) => Object.hasOwn(readable, name));
  const named = [...new Set([...known, ...Object.keys(readable)])]
    .filter((name) => !isAddress(name) && readText(claims, name) !== null)
    .slice(0, mostTried);
  const values = named.map((name) => readText(claims, name)!);
  const results = await Promise.all(
    ruleFields.map(async (field) => {
      const matches = await findMatches(db, { schoolId, values, rule: { ruleField: field, normalisations } });
      return matches.map(({ count }, index) => ({ claim: named[index]!, field, matches: count }));
    }),
  );
  return results
    .flat()
    .filter(({ matches }) => matches > 0)
    .sort((a, b) => a.matches - b.matches);
}
