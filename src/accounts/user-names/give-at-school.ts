import { againAfterDeadlock } from "../../access/index.ts";
import { personNameOf, type PersonId, type PersonName, type SchoolId } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { findRows, type Queryable, sql, statement, table } from "../../platform/database/sql.ts";
import { findSignInSettings, type SignInSettings } from "../sign-in-settings.ts";
import { giveNames, type Unnamed } from "./give-names.ts";

/** The folded user names of a roster, by person. */
export type RosterNames = ReadonlyMap<PersonId, string>;

type Row = { personId: PersonId } & { [Part in keyof PersonName]: string | null };

const p = table("person", "p");
const c = table("credential", "c");

// The lock keeps people from being deleted for good meanwhile.
const findUnnamed = statement<{ schoolId: SchoolId | null; people: PersonId[] | null }>(
  ({ schoolId, people }) => sql`
    SELECT ${p.id} AS "personId", ${p.firstFull} AS "firstFull", ${p.firstCall} AS "firstCall", ${p.last} AS last
    FROM ${p}
    WHERE (${people}::uuid[] IS NOT NULL OR ${p.homeSchoolId} = ${schoolId}::uuid AND ${p.status} = 'ACTIVE')
      AND (${people}::uuid[] IS NULL OR ${p.id} = ANY (${people}::uuid[]))
      AND NOT EXISTS (SELECT FROM ${c} WHERE ${c.personId} = ${p.id})
    ORDER BY ${p.sortKey}, ${p.id} FOR KEY SHARE OF p`,
);

async function listUnnamed(
  tx: Queryable,
  asked: { schoolId: SchoolId | null; people: PersonId[] | null },
): Promise<Unnamed[]> {
  const rows = await findRows<Row, typeof asked>(tx, findUnnamed, asked);
  return rows.map((row) => ({ personId: row.personId, name: personNameOf(row) }));
}

async function settingsOf(tx: Transaction, schoolId: SchoolId): Promise<SignInSettings> {
  const settings = await findSignInSettings(tx, schoolId);
  if (settings === null) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return settings;
}

/** Errors: not_found school_not_found. */
export async function giveUserNames(
  tx: Transaction,
  { schoolId, people }: { schoolId: SchoolId; people: PersonId[] },
  now: Date,
): Promise<number> {
  const { userNameRule: rule } = await settingsOf(tx, schoolId);
  return (await giveNames(tx, await listUnnamed(tx, { schoolId: null, people }), { rule, now })).length;
}

/** Gives a user name to everyone without one whose home is the school, and returns how many. Errors: not_found. */
export function giveUserNamesAtSchool(
  db: PrismaDb,
  { schoolId, findRosterNames }: { schoolId: SchoolId; findRosterNames: (tx: Transaction) => Promise<RosterNames> },
  origin: Origin,
): Promise<number> {
  return againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const { userNameRule: rule } = await settingsOf(tx, schoolId);
      const unnamed = await listUnnamed(tx, { schoolId, people: null });
      if (unnamed.length === 0) return 0;
      const wanted: RosterNames = rule === "ROSTER" ? await findRosterNames(tx) : new Map();
      const people = unnamed.map((one) => ({ ...one, wanted: wanted.get(one.personId) }));
      const { length: count } = await giveNames(tx, people, { rule, now: origin.at });
      await recordAudit(tx, { ...origin, action: "user_names_given", schoolId, detail: { count } });
      return count;
    }),
  );
}
