import { setImmediate } from "node:timers/promises";
import { describeAct, type PersonId, type SchoolId } from "../directory/index.ts";
import { type Origin, recordAct } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { makeFind, sql, table, update } from "../platform/database/sql.ts";
import { createCardsIn } from "./cards/cards.ts";
import type { MadeCard } from "./cards/make-card.ts";
import { endSignInsOf } from "./end-sign-ins.ts";
import { makePassword } from "./login/make-password.ts";
import { hashInTurn } from "./login/password.ts";
import { forgetTriesOf } from "./login/rate-limits.ts";
import { dropUnaskedPasskeysIn } from "./second-factor/records.ts";
import { closePasswordRequests } from "./password-requests.ts";
import type { PasswordKind } from "./sign-in-settings.ts";

/** What is prepared for a person; not valid yet. */
export type Prepared = { password: string | null; passwordHash: string | null; card: MadeCard | null };

/** Null for a secret that is not to be made. */
type Preparing = { passwordKind: PasswordKind | null; makeCard: (() => MadeCard) | null };

export async function prepareSecrets(
  { passwordKind, makeCard }: Preparing,
  hash: (password: string) => Promise<string>,
): Promise<Prepared> {
  const password = passwordKind && makePassword(passwordKind);
  return { password, passwordHash: password && (await hash(password)), card: makeCard && makeCard() };
}

/** Per request, so that several requests take turns. */
const hashesAtOnce = 2;

export async function prepareForPeople(
  people: readonly PersonId[],
  preparing: Preparing,
): Promise<ReadonlyMap<PersonId, Prepared>> {
  const made = new Map<PersonId, Prepared>();
  const left = people.values();
  const work = async () => {
    for (const personId of left) {
      made.set(personId, await prepareSecrets(preparing, hashInTurn));
      await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: hashesAtOnce }, work));
  return made;
}

type People = { people: readonly PersonId[] };

const p = table("person", "p");
const c = table("credential", "c");

const lock = makeFind<{ id: PersonId }, People>("sign-on.lockPeople")`
  SELECT ${p.id} AS id FROM ${p} WHERE ${p.id} = ANY (${"people"}::uuid[]) AND ${p.status} = 'ACTIVE'
    ORDER BY ${p.id} FOR NO KEY UPDATE`;

/** Locks the logins of people until the end of the transaction. Returns those who are active. */
export async function lockPeople(tx: Transaction, people: readonly PersonId[]): Promise<ReadonlySet<PersonId>> {
  return new Set((await lock(tx, { people })).map(({ id }) => id));
}

type Passwords = People & { hashes: readonly string[]; mustChange: boolean; now: Date };

const updatePasswords = makeFind<{ id: PersonId }, Passwords>(
  ({ people, hashes, mustChange, now }) => sql`
    WITH former AS (
      SELECT ${c.personId} AS id FROM ${c} WHERE ${c.personId} = ANY (${people}::uuid[]) AND ${c.passwordHash} IS NOT NULL),
    changed AS (
      ${update("credential", "c", { passwordHash: sql`given.hash`, mustChange, updatedAt: now })}
      FROM unnest(${people}::uuid[], ${hashes}::text[]) AS given (id, hash) WHERE ${c.personId} = given.id)
    SELECT id FROM former`,
);

/** What a person gets: a password as its hash, a card, or both. */
type NewSecrets = { personId: PersonId; passwordHash: string | null; card: MadeCard | null };

/** `groupIds`: the groups whose people were asked for. */
type SecretsOfPeople = {
  schoolId: SchoolId;
  people: readonly NewSecrets[];
  mustChange: boolean;
  groupIds?: readonly string[] | null | undefined;
};

/** Sets passwords and cards of locked people who have user names. What they replace ends, with its sign-ins. */
export async function setSecretsIn(
  tx: Transaction,
  { schoolId, people, mustChange, groupIds }: SecretsOfPeople,
  origin: Origin,
): Promise<void> {
  const passwords = people.flatMap(({ personId, passwordHash: hash }) => (hash === null ? [] : [{ personId, hash }]));
  const cards = people.flatMap(({ personId, card }) => (card === null ? [] : [{ personId, card }]));
  const ids = passwords.map(({ personId }) => personId);
  const hashes = passwords.map(({ hash }) => hash);
  const former = await updatePasswords(tx, { people: ids, hashes, mustChange, now: origin.at });
  // Without a password nobody was signed in with one.
  await endSignInsOf(tx, { personIds: former.map(({ id }) => id), at: origin.at });
  await dropUnaskedPasskeysIn(tx, ids, { ...origin, schoolId });
  await forgetTriesOf(tx, ids);
  const all = people.map(({ personId }) => personId);
  await closePasswordRequests(tx, all);
  const line = { ...origin, action: "credential_set" as const, schoolId };
  const ofPasswords = ids.map((personId) => ({ ...line, personId }));
  const lines = [...ofPasswords, ...(await createCardsIn(tx, { schoolId, cards }, origin))];
  const action = cards.length > 0 ? "login_cards_created" : "credentials_set";
  const detail = await describeAct(tx, { schoolId, people: all, groupIds });
  await recordAct(tx, { ...origin, action, schoolId, detail }, lines);
}
