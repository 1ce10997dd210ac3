import { findGroup, type Group, type GroupId } from "../../directory/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { isGroupReached, type Reach } from "../../staff/index.ts";
import type { Schemas } from "../handler.ts";

export type AdminGroup = Schemas["AdminGroup"];

/** Does not compile if a group has a property that the contract lacks. */
export const groupProperties: Same<keyof AdminGroup, keyof Group> = true;

/** Properties that change without a change of the group itself. */
export const groupCounts = ["members"] as const satisfies (keyof AdminGroup)[];

export const groupUnknown = () => new AppError("not_found", "group_not_found", "The group does not exist.");

/** Errors: not_found group_not_found, also if out of reach. */
export async function readGroup(db: RecordStore, reach: Reach, groupId: GroupId): Promise<AdminGroup> {
  const group = await findGroup(db, groupId);
  if (group === null || !(await isGroupReached(db, reach, group))) throw groupUnknown();
  return group;
}
