import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import type { GroupId, SchoolId } from "./ids.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkText } from "./text.ts";

export type GroupType = "KLASSE" | "KURS" | "SONSTIG";

export type NewGroup = { id?: GroupId | undefined; schoolId: SchoolId; name: string; type: GroupType };

const insertGroup = `
  INSERT INTO "group" (id, school_id, name, sort_key, type, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $6)`;

export async function createGroup(tx: Queryable, group: NewGroup, origin: Origin): Promise<GroupId> {
  const id = group.id ?? (makeUuid(origin.at) as GroupId);
  const name = checkText("name", group.name);
  await tx.query(insertGroup, [id, group.schoolId, name, makeSortKey(name), group.type, origin.at]);
  await recordAudit(tx, { ...origin, action: "group_created", schoolId: group.schoolId, detail: { groupId: id } });
  return id;
}

/** ACTIVE → DELETED; the members stay, so that a restored group has them. */
export async function deleteGroup(tx: Queryable, groupId: GroupId, origin: Origin): Promise<void> {
  await changeStatus(tx, { groupId, from: "ACTIVE", to: "DELETED", deletedAt: origin.at }, origin);
}

/** DELETED → ACTIVE. */
export async function restoreGroup(tx: Queryable, groupId: GroupId, origin: Origin): Promise<void> {
  await changeStatus(tx, { groupId, from: "DELETED", to: "ACTIVE", deletedAt: null }, origin);
}

type StatusChange = { groupId: GroupId; from: string; to: string; deletedAt: Date | null };

async function changeStatus(tx: Queryable, change: StatusChange, origin: Origin): Promise<void> {
  const { rows } = await tx.query<{ school_id: SchoolId }>(
    `UPDATE "group" SET status = $3, deleted_at = $4, updated_at = $5 WHERE id = $1 AND status = $2 RETURNING school_id`,
    [change.groupId, change.from, change.to, change.deletedAt, origin.at],
  );
  const group = rows[0];
  if (!group) throw new AppError("conflict", "group_wrong_status", `There is no such group that is ${change.from}.`);
  const action = change.to === "DELETED" ? "group_deleted" : "group_restored";
  await recordAudit(tx, { ...origin, action, schoolId: group.school_id, detail: { groupId: change.groupId } });
}
