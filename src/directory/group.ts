import type { Prisma } from "../../generated/prisma/client.ts";
import type { GroupType } from "../../generated/prisma/enums.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { auditChange, write, type Change } from "./change.ts";
import type { GroupId, SchoolId } from "./ids.ts";
import { makeSortKey } from "./sort-key.ts";
import { checkIdentifier, checkText, checkTexts } from "./text.ts";
import { checkGroupStep, type GroupStatus, type GroupStep } from "./transitions.ts";

export type { GroupType };
type KeptByDirectory =
  "id" | "schoolId" | "sortKey" | "naturalKey" | "status" | "deletedAt" | "createdAt" | "updatedAt";

export type NewGroup = Omit<Prisma.GroupModel, KeptByDirectory | "sourceSystemIdentifier"> & {
  id?: GroupId | undefined;
  schoolId: SchoolId;
  sourceSystemIdentifier?: string | null | undefined;
};

export async function createGroup(change: Change, group: NewGroup): Promise<GroupId> {
  const { tx, now } = change;
  const { id = makeUuid(now) as GroupId, schoolId, type, name, sourceSystemIdentifier = null } = group;
  const record = { type, ...checkTexts({ name, sourceSystemIdentifier }) };
  await change.touch({ groups: [id], schools: [schoolId] });
  const row = { schoolId, sortKey: makeSortKey(record.name), createdAt: now, updatedAt: now };
  await write(tx.prisma.group.create({ data: { id, ...record, ...row } }));
  await auditChange(change, { action: "group_created", schoolId, detail: { groupId: id } });
  return id;
}

/** Returns false if the group has this name already. Errors: invalid text_*; conflict group_wrong_status. */
export async function renameGroup(change: Change, { groupId, name: newName }: { groupId: GroupId; name: string }) {
  const { tx, now } = change;
  const name = checkText("name", newName);
  await change.touch({ groups: [groupId] });
  const before = await lockGroup(tx, groupId, "change");
  if (before.name === name) return false;
  await tx.prisma.group.update({ where: { id: groupId }, data: { name, sortKey: makeSortKey(name), updatedAt: now } });
  const { schoolId } = before;
  await auditChange(change, { action: "group_renamed", schoolId, detail: { groupId } });
  return true;
}

export async function setGroupSourceId(
  change: Change,
  { groupId, sourceSystemIdentifier: identifier }: { groupId: GroupId; sourceSystemIdentifier: string },
): Promise<void> {
  const { tx, now } = change;
  const sourceSystemIdentifier = checkIdentifier("sourceSystemIdentifier", identifier);
  await change.touch({ groups: [groupId] });
  const { schoolId } = await lockGroup(tx, groupId, "change");
  await write(tx.prisma.group.update({ where: { id: groupId }, data: { sourceSystemIdentifier, updatedAt: now } }));
  await auditChange(change, { action: "group_source_id_set", schoolId, detail: { groupId } });
}

/** Keeps the memberships, so that a restored group has them. Errors: conflict group_wrong_status. */
export async function deleteGroup(change: Change, { groupId }: { groupId: GroupId }): Promise<void> {
  await changeStatus(change, { groupId, step: "delete", to: "DELETED" });
}

export async function restoreGroup(change: Change, { groupId }: { groupId: GroupId }): Promise<void> {
  await changeStatus(change, { groupId, step: "restore", to: "ACTIVE" });
}

type StatusChange = { groupId: GroupId; step: GroupStep; to: GroupStatus };

async function changeStatus(change: Change, { groupId, step, to }: StatusChange): Promise<void> {
  const { tx, now } = change;
  await change.touch({ groups: [groupId], membersOf: [groupId] });
  const { schoolId } = await lockGroup(tx, groupId, step);
  const deletedAt = to === "DELETED" ? now : null;
  await tx.prisma.group.update({ where: { id: groupId }, data: { status: to, deletedAt, updatedAt: now } });
  const action = to === "DELETED" ? "group_deleted" : "group_restored";
  await auditChange(change, { action, schoolId, detail: { groupId } });
}

const lockRow = makeRowLock("group", "id", "directory.lockGroup");

export async function lockGroup(tx: Transaction, groupId: GroupId, step: GroupStep) {
  await lockRow(tx, groupId);
  const select = { schoolId: true, name: true, status: true };
  const group = await tx.prisma.group.findUnique({ where: { id: groupId }, select });
  if (group === null) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  checkGroupStep(group.status, step);
  return { schoolId: group.schoolId as SchoolId, name: group.name };
}
