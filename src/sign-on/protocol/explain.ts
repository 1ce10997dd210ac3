import { decideSignOnRight, personFactsOf, signOnFactsOf } from "../../access/index.ts";
import type { AppAttribute, ClientId, PersonFacts, ScopeName, SignOnFacts, SignOnRight } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { fields, makeFind, sql, table, type Queryable } from "../../platform/database/sql.ts";
import { decisionsOf, type Decisions } from "./consent.ts";
import {
  forgetTriesOf,
  isOfStaff,
  classListsOf,
  lastCardOf,
  mayUsePasswordOf,
  passkeyRuleOfOwner,
  passkeyStateOf,
  readLastCard,
  recordAtHome,
  waitsOf,
  wrongPasswordsOf,
} from "../../accounts/index.ts";
import { schoolLoginsOf, type SchoolLogin } from "../../upstream/index.ts";
import type {
  LastCard,
  LastCardRow,
  ListOfPupil,
  PasskeyRule,
  PasskeyState,
  Waits,
  WrongPasswords,
} from "../../accounts/index.ts";

export type SignInFacts = {
  person: PersonFacts;
  login: {
    username: string;
    changedAt: string;
    hasPassword: boolean;
    mustChange: boolean;
  } | null;
  usesPassword: boolean;
  schoolLogins: SchoolLogin[];
  /** Of the last 24 hours. */
  wrongPasswords: WrongPasswords;
  waits: Waits;
  /** At the home school; null for a person who has had none. */
  card: LastCard | null;
  /** One entry per class, if the home school uses class lists. */
  classLists: ListOfPupil[];
  /** Null for a person without a passkey. */
  passkey: PasskeyState | null;
  /** Staff roles need a second factor where the service requires one. */
  isStaff: boolean;
  hasSecondFactor: boolean;
  /** Computed by the rule that sign-on uses. */
  right: SignOnRight;
  decisions: Decisions;
  scopes: ScopeName[];
  attributes: AppAttribute[];
};

type SignInQuery = { clientId: ClientId | null; personId: PersonId; now: Date };
type Row = Omit<SignInFacts, "right" | "person" | "card" | "passkey"> & {
  person: PersonFacts | null;
  card: LastCardRow | null;
  passkey: PasskeyRule | null;
  facts: SignOnFacts;
};

const credential = table("credential");
const app = table("app");
const factor = table("secondFactor", "factor");

const findFacts = makeFind<Row, SignInQuery>(({ clientId, personId, now }) => {
  const [client, person] = [sql`${clientId}::text`, sql`${personId}::uuid`];
  return sql`
    SELECT ${fields<Row>({
      person: personFactsOf(client, person),
      login: sql`(
        SELECT json_build_object('username', ${credential.username}, 'changedAt', ${credential.updatedAt},
          'hasPassword', ${credential.passwordHash} IS NOT NULL, 'mustChange', ${credential.mustChange})
        FROM ${credential} WHERE ${credential.personId} = ${person})`,
      usesPassword: sql`coalesce(${mayUsePasswordOf(person, now)}, false)`,
      schoolLogins: schoolLoginsOf(person, now),
      wrongPasswords: wrongPasswordsOf(person, now),
      waits: waitsOf(person, now),
      card: lastCardOf(person, now),
      classLists: classListsOf(person, now),
      passkey: passkeyRuleOfOwner(person),
      isStaff: isOfStaff(person, sql`${now}`),
      hasSecondFactor: sql`EXISTS (SELECT FROM ${factor} WHERE ${factor.personId} = ${person})`,
      facts: signOnFactsOf(client, person, now),
      decisions: decisionsOf(client, person),
      scopes: sql`coalesce(${app.scopes}, '{}')`,
      attributes: sql`coalesce(${app.attributes}::text[], '{}')`,
    })}
    FROM (VALUES (${client})) AS asked (client_id) LEFT JOIN ${app} ON ${app.clientId} = asked.client_id
    WHERE asked.client_id IS NULL OR ${app.clientId} IS NOT NULL`;
}, "sign-on.explainSignIn");

/** Null if the person or the app does not exist. Without an app, no school lets the person in. */
export async function findSignInFacts(db: Queryable, query: SignInQuery): Promise<SignInFacts | null> {
  const [row] = await findFacts(db, query);
  if (row === undefined || row.person === null) return null;
  const { person, facts, card, passkey, ...rest } = row;
  const read = { card: card && readLastCard(card, query.now), passkey: passkey && passkeyStateOf(passkey) };
  return { ...rest, ...read, person, right: decideSignOnRight(facts) };
}

/** Returns how many limits there were. */
export async function releaseSignInLimitsIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<number> {
  const released = await forgetTriesOf(tx, [personId]);
  await recordAtHome(tx, { ...origin, action: "sign_in_limits_released", personId, detail: { limits: released } });
  return released;
}
