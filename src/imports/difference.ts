import type { Transaction } from "../platform/database/db.ts";
import { addNamed, findGroups, findMemberships, isWhole } from "./difference-groups.ts";
import { findPeople } from "./difference-people.ts";
import { keepStaff } from "./keep-staff.ts";
import type { SchoolPart } from "./record.ts";
import { analyzeGroups, analyzeMemberships, analyzePeople, createTables } from "./tables.ts";

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
