import { recordAudit } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { originOf, type Change } from "./change.ts";
import type { GroupId, SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkIdentifier, checkText } from "./text.ts";
import { checkGroupStep, type GroupStatus, type GroupStep } from "./transitions.ts";

export type GroupType = "KLASSE" | "KURS" | "SONSTIG";

export type NewGroup = {
  id?: GroupId | undefined;
  schoolId: SchoolId;
  name: string;
  type: GroupType;
  /** Without one no import takes the group for one of its own. */
  sourceSystemIdentifier?: string | null | undefined;
};

const insertGroup = `
  INSERT INTO "group" (id, school_id, name, sort_key, type, source_system_identifier, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`;

export async function createGroup(change: Change, group: NewGroup): Promise<GroupId> {
  const { schoolId, type } = group;
  const id = group.id ?? (makeUuid(change.now) as GroupId);
  const name = checkText("name", group.name);
  const source = group.sourceSystemIdentifier ?? null;
  const identifier = source === null ? null : checkIdentifier("sourceSystemIdentifier", source);
  await change.touch({ groups: [id], schools: [schoolId] });
  await write(change.tx, insertGroup, [id, schoolId, name, makeSortKey(name), type, identifier, change.now]);
  await recordAudit(change.tx, { ...originOf(change), action: "group_created", schoolId, detail: { groupId: id } });
  return id;
}

/** Answers false where the group has this name already; then nothing was written. */
export async function renameGroup(
  change: Change,
  { groupId, name: wanted }: { groupId: GroupId; name: string },
): Promise<boolean> {
  const name = checkText("name", wanted);
  await change.touch({ groups: [groupId] });
  const before = await lockGroup(change.tx, groupId, "change");
  if (before.name === name) return false;
  await change.tx.query(`UPDATE "group" SET name = $2, sort_key = $3, updated_at = $4 WHERE id = $1`, [
    groupId,
    name,
    makeSortKey(name),
    change.now,
  ]);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "group_renamed",
    schoolId: before.schoolId,
    detail: { groupId },
  });
  return true;
}

/** ACTIVE → DELETED; the members stay, so that a restored group has them. */
export async function deleteGroup(change: Change, { groupId }: { groupId: GroupId }): Promise<void> {
  await changeStatus(change, { groupId, step: "delete", to: "DELETED" });
}

/** DELETED → ACTIVE. */
export async function restoreGroup(change: Change, { groupId }: { groupId: GroupId }): Promise<void> {
  await changeStatus(change, { groupId, step: "restore", to: "ACTIVE" });
}

type StatusChange = { groupId: GroupId; step: GroupStep; to: GroupStatus };

async function changeStatus(change: Change, { groupId, step, to }: StatusChange): Promise<void> {
  await change.touch({ groups: [groupId], membersOf: [groupId] });
  const { schoolId } = await lockGroup(change.tx, groupId, step);
  const deletedAt = to === "DELETED" ? change.now : null;
  await change.tx.query(`UPDATE "group" SET status = $2, deleted_at = $3, updated_at = $4 WHERE id = $1`, [
    groupId,
    to,
    deletedAt,
    change.now,
  ]);
  const action = to === "DELETED" ? "group_deleted" : "group_restored";
  await recordAudit(change.tx, { ...originOf(change), action, schoolId, detail: { groupId } });
}

type StoredGroup = { schoolId: SchoolId; name: string; status: GroupStatus };

/** The group as it is, held until the end of the change; refuses a step that its state does not allow. */
export async function lockGroup(tx: Queryable, groupId: GroupId, step: GroupStep): Promise<StoredGroup> {
  const { rows } = await tx.query<StoredGroup>(
    `SELECT school_id AS "schoolId", name, status::text FROM "group" WHERE id = $1 FOR NO KEY UPDATE`,
    [groupId],
  );
  const group = rows[0];
  if (group === undefined) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  checkGroupStep(group.status, step);
  return group;
}
