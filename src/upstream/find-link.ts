import { fields, makeFind, makeRun, sql, table, type Queryable } from "../platform/database/sql.ts";
import type { ConnectionId } from "./ids.ts";
import type { AccountRefusal } from "./failures.ts";
import type { PersonId } from "../directory/index.ts";
import { isOfSchool, readRuleValue, type Claims } from "./claims.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import { factsTables, findMatches, findPersonFacts, personFacts, toRuleParameters } from "./roster.ts";
import type { FactsParameters, PersonFacts } from "./roster.ts";

/** An account at the provider, proven by an ID token. */
export type Account = { issuer: string; subject: string; claims: Claims };

export type AccountMatch =
  | { kind: "linked" | "new"; facts: PersonFacts }
  | { kind: "refused"; code: AccountRefusal; matches: number; value: string | null };

export type MatchingRule = Pick<
  ReadyConnection,
  | "id"
  | "schoolId"
  | "profile"
  | "schoolClaim"
  | "schoolValue"
  | "ruleClaim"
  | "ruleField"
  | "normalisations"
  | "groupIds"
>;

const link = table("upstreamLink", "link");

type LinkedFacts = PersonFacts & { linkedBy: "RULE" | "STAFF"; lacksClaim: boolean };
type LinkKey = { connectionId: ConnectionId; issuer: string; subject: string };

const findLinked = makeFind<LinkedFacts, FactsParameters & LinkKey>(
  (params) => sql`
    SELECT ${fields<LinkedFacts>({
      ...personFacts(params),
      linkedBy: sql`linked.linked_by`,
      lacksClaim: sql`linked.lacks_claim`,
    })}
    FROM (SELECT ${link.personId} AS person_id, ${link.linkedBy} AS linked_by, ${link.lacksClaim} AS lacks_claim
      FROM ${link}
      WHERE ${link.connectionId} = ${params.connectionId} AND ${link.issuer} = ${params.issuer}
        AND ${link.subject} = ${params.subject}) AS linked
    CROSS JOIN ${factsTables(sql`linked.person_id`)}`,
  "upstream.findLinked",
);

/** Finds the person linked to an account, otherwise the only one whom the rule names; nobody without the claim. */
export async function findPersonOf(
  db: Queryable,
  { connection, account, now }: { connection: MatchingRule; account: Account; now: Date },
): Promise<AccountMatch> {
  const { id: connectionId, schoolId, groupIds, ruleClaim } = connection;
  const value = readRuleValue(account.claims, connection);
  const refuse = (code: AccountRefusal, matches = 0): AccountMatch => ({ kind: "refused", code, matches, value });
  // Checked before the link, because the account may have moved to another school since it was linked.
  if (!isOfSchool(account.claims, connection)) return refuse("OTHER_SCHOOL");
  const params = { ...toRuleParameters(connection), schoolId, groupIds, value, now };
  const { issuer, subject } = account;
  const [linked] = await findLinked(db, { ...params, connectionId, issuer, subject });
  if (linked !== undefined) {
    const refusal = refusalOf(linked) ?? (await findContradiction(db, { connection, linked, value }));
    return refusal === null ? { kind: "linked", facts: linked } : refuse(refusal);
  }
  if (value === null) return refuse(ruleClaim === null ? "NOBODY_MATCHES" : "CLAIM_MISSING");
  const [match] = await findMatches(db, { schoolId, values: [value], rule: connection });
  if (match!.count !== 1) return refuse(match!.count === 0 ? "NOBODY_MATCHES" : "SEVERAL_MATCH", match!.count);
  const facts = await findPersonFacts(db, { ...params, personId: match!.personIds[0]! });
  if (facts === null) return refuse("NOBODY_MATCHES");
  const refusal = refusalOf(facts);
  if (refusal !== null) return refuse(refusal, 1);
  return (await countOthers(db, { connectionId, issuer, subject, personId: facts.personId })) > 0
    ? refuse("LINKED_TO_ANOTHER", 1)
    : { kind: "new", facts };
}

export function refusalOf({ isHere, worksBeyondHome, isBlocked, isInGroups }: PersonFacts): AccountRefusal | null {
  if (!isHere || worksBeyondHome) return "NOBODY_MATCHES";
  if (isBlocked) return "BLOCKED";
  return isInGroups ? null : "NOT_IN_CLASSES";
}

/**
 * Whether the claim says now that the account is another person's, as when a `sub` is given out again. A browser can
 * remove the scope of the claim from the request, so that an absent one is refused, except for an account that had none
 * when staff linked it.
 */
async function findContradiction(
  db: Queryable,
  { connection, linked, value }: { connection: MatchingRule; linked: LinkedFacts; value: string | null },
): Promise<AccountRefusal | null> {
  const { schoolId, ruleClaim } = connection;
  if (value === null) return ruleClaim === null || linked.lacksClaim ? null : "CLAIM_MISSING";
  // Staff link accounts whose claim differs from the roster, so a difference refuses nobody whom they linked.
  if (linked.isKey === true) return null;
  const [match] = await findMatches(db, { schoolId, values: [value], rule: connection });
  const namesOthers = match!.count > 0 || (linked.isKey === false && linked.linkedBy === "RULE");
  return namesOthers ? "LINK_CONTRADICTED" : null;
}

// The same account may have been linked since, by another tab.
const countOthers = makeRun<LinkKey & { personId: PersonId }>("upstream.findOtherLink")`
    SELECT FROM ${link} WHERE ${link.connectionId} = ${"connectionId"} AND ${link.personId} = ${"personId"}
      AND (${link.issuer} <> ${"issuer"} OR ${link.subject} <> ${"subject"})`;
