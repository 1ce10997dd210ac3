import type { Transaction, RecordStore } from "../../platform/database/db.ts";
import { addNamed, findGroups, findMemberships, isWhole } from "./groups.ts";
import { findPeople } from "./people.ts";
import type { SchoolPart } from "../state/record.ts";
import { analyzeGroups, analyzeMemberships, analyzePeople, createTables, planned } from "./tables.ts";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { findRows, run, statement, table } from "../../platform/database/sql.ts";
import { findRoles, listHigherHolders, listLastOperators, type Covered, type RoleHolder } from "../../staff/index.ts";

const workFor = (time: string) => `SET LOCAL statement_timeout = '${time}'; SET LOCAL work_mem = '64MB';
  SET LOCAL idle_in_transaction_session_timeout = '10min'`;

export const longWork = workFor("60min");
const shownWork = workFor("5min");

/** Fills the temporary tables of tables.ts. Errors: conflict import_outdated. */
export async function findDifference(tx: Transaction, part: SchoolPart): Promise<void> {
  await tx.query(part.isShown === true ? shownWork : longWork);
  await tx.query(createTables);
  await findPeople(tx, part);
  await keepStaff(tx, part);
  await findGroups(tx, part);
  if (!isWhole(part)) await addNamed(tx, part);
  await tx.query(`${analyzePeople}; ${analyzeGroups}`);
  await findMemberships(tx, part);
  await tx.query(analyzeMemberships);
}

const r = table("staffRole", "r");

const findRemovedStaff = statement()`
  SELECT DISTINCT ${planned.id} FROM ${planned} JOIN ${r} ON ${r.personId} = ${planned.id}
    WHERE ${planned.change} = 'removed'`;
const keep = statement<{ ids: readonly PersonId[] }>()`
  UPDATE ${planned} SET change = NULL, is_kept = true WHERE ${planned.change} = 'removed'
    AND ${planned.id} = ANY (${"ids"}::uuid[])`;

/** Keeps people from removal if their staff role exceeds an actor's, and the last operators. */
async function keepStaff(tx: Transaction, { importId, appliedBy, schools, now }: SchoolPart): Promise<void> {
  const personIds = (await findRows<{ id: PersonId }>(tx, findRemovedStaff, {})).map(({ id }) => id);
  if (personIds.length === 0) return;
  const stayingIds = new Set<PersonId>();
  const { actorId } = await tx.prisma.import.findUniqueOrThrow({ where: { id: importId }, select: { actorId: true } });
  for (const actor of new Set([actorId, appliedBy ?? null])) {
    const mine = await findRolesOfActor(tx, actor, { schools, now });
    if (mine === null) continue;
    for (const id of await listHigherHolders(tx, { personIds, mine, now })) stayingIds.add(id);
  }
  const removed = personIds.filter((id) => !stayingIds.has(id));
  for (const id of await listLastOperators(tx, removed)) stayingIds.add(id);
  if (stayingIds.size > 0) await run(tx, keep, { ids: [...stayingIds] });
}

/** Null for programs, which have an operator's rights. A roster connection has those of an admin of its schools. */
async function findRolesOfActor(
  tx: RecordStore,
  actorId: string | null,
  { schools, now }: Pick<SchoolPart, "schools" | "now">,
): Promise<readonly Covered[] | null> {
  const [, kind, id] = /^(person|app|connection):(.*)$/.exec(actorId ?? "") ?? [];
  if (kind === undefined || id === undefined) return null;
  if (kind === "connection") return [{ role: "SCHOOL_ADMIN", schoolIds: [...schools], clientIds: [] }];
  const holder: RoleHolder = kind === "person" ? { personId: id as PersonId } : { clientId: id as ClientId };
  return findRoles(tx, holder, now);
}
