import type { GroupId, PersonId, SchoolId } from "../directory/index.ts";
import { storeOf, type PrismaDb, type Store } from "../platform/database/db.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { isOfSchool, readRuleValue, type Claims } from "./claims.ts";
import { connectionNotFound, type Connection, type Rule } from "./connection.ts";
import type { AccountRefusal } from "./failures.ts";
import { refusalOf } from "./find-link.ts";
import type { ConnectionId } from "./ids.ts";
import { recentPurpose, type Recent } from "./record-sign-in.ts";
import { openDetails } from "./refusals.ts";
import { countKeys, findMatches, findPersonFacts, toRuleParameters, type KeyCounts } from "./roster.ts";
import { openJson } from "./sealed-json.ts";

export type RulePreview = {
  /** The people at home in the school, and in the classes if some are chosen. */
  roster: KeyCounts;
  /** The latest sign-ins of different people, at most 200 and 30 days old, as if nobody were linked. */
  signIns: { tried: number; same: number; another: number; refused: { code: AccountRefusal; count: number }[] };
  /** The accounts on the list of refusals. */
  refusals: { tried: number; letIn: number };
};

type PreviewQuery = { connectionId: ConnectionId; rule: Rule; groupIds: readonly GroupId[]; at: Date };
type Of = PreviewQuery & Pick<Connection, "schoolId" | "profile" | "schoolClaim" | "schoolValue">;
type Tried = { claims: Claims; personId: PersonId | null };

/** What a rule would do with the roster and with the sign-ins that are remembered. Errors: not_found. */
export async function previewRule(db: PrismaDb, query: PreviewQuery, keys: EncryptionKeys): Promise<RulePreview> {
  const store = storeOf(db);
  const { connectionId, rule, groupIds } = query;
  const connection = await db.prisma.upstreamConnection.findUnique({
    where: { id: connectionId },
    select: {
      schoolId: true,
      profile: true,
      schoolClaim: true,
      schoolValue: true,
      recent: true,
      refusals: { orderBy: { lastAt: "desc" }, take: 200 },
    },
  });
  if (connection === null) throw connectionNotFound();
  const { profile, schoolClaim, schoolValue } = connection;
  const of = { ...query, schoolId: connection.schoolId as SchoolId, profile, schoolClaim, schoolValue };
  const recent = connection.recent.flatMap((row): Tried[] => {
    const opened = openJson<Recent>(keys, recentPurpose(connectionId, row.place), row.claims);
    return opened === null ? [] : [{ claims: opened.claims, personId: row.personId as PersonId }];
  });
  const refused = connection.refusals.flatMap((row): Tried[] => {
    const opened = openDetails(keys, row);
    return opened === null ? [] : [{ claims: opened.claims, personId: null }];
  });
  const signIns = await tryRule(store, of, recent);
  const others = await tryRule(store, of, refused);
  return {
    roster: await countKeys(store, { schoolId: of.schoolId, groupIds, rule }),
    signIns: {
      tried: signIns.length,
      same: signIns.filter((one, index) => one === recent[index]!.personId).length,
      another: signIns.filter((one, index) => isPerson(one) && one !== recent[index]!.personId).length,
      refused: countCodes(signIns),
    },
    refusals: { tried: others.length, letIn: others.filter(isPerson).length },
  };
}

type Outcome = { code: AccountRefusal } | PersonId;
const isPerson = (outcome: Outcome): outcome is PersonId => typeof outcome === "string";

function countCodes(outcomes: readonly Outcome[]): { code: AccountRefusal; count: number }[] {
  const codes = outcomes.flatMap((one) => (isPerson(one) ? [] : [one.code]));
  return [...Map.groupBy(codes, (code) => code)].map(([code, { length: count }]) => ({ code, count }));
}

async function tryRule(
  db: Store,
  { schoolId, profile, schoolClaim, schoolValue, rule, groupIds, at: now }: Of,
  tried: readonly Tried[],
): Promise<Outcome[]> {
  const { ruleClaim } = rule;
  const values = tried.map(({ claims }) => readRuleValue(claims, { profile, ruleClaim }));
  // A value that is empty matches nobody, as a claim that is absent.
  const matches = await findMatches(db, { schoolId, values: values.map((value) => value ?? ""), rule });
  const params = { ...toRuleParameters(rule), schoolId, groupIds, value: null, now };
  const outcomes: Outcome[] = [];
  for (const [index, { count, personIds }] of matches.entries()) {
    const value = values[index];
    if (!isOfSchool(tried[index]!.claims, { schoolClaim, schoolValue })) outcomes.push({ code: "OTHER_SCHOOL" });
    else if (value === null) outcomes.push({ code: ruleClaim === null ? "NOBODY_MATCHES" : "CLAIM_MISSING" });
    else if (count !== 1) outcomes.push({ code: count === 0 ? "NOBODY_MATCHES" : "SEVERAL_MATCH" });
    else {
      const facts = await findPersonFacts(db, { ...params, personId: personIds[0]! });
      const code = facts === null ? "NOBODY_MATCHES" : refusalOf(facts);
      outcomes.push(code === null ? personIds[0]! : { code });
    }
  }
  return outcomes;
}
