import { randomUUID } from "node:crypto";
import type { Prisma } from "../../../generated/prisma/client.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { makeRowLock } from "../../platform/database/sql.ts";
import { getLockedApp, lockApp } from "../apps/find.ts";
import { checkSector } from "../apps/rules.ts";
import { renameErasures } from "../erasures.ts";
import type { ClientId } from "../token.ts";

export type NewIdMove = {
  clientId: ClientId;
  subjectType: "PARTNER" | "APP";
  sector?: string | undefined;
  cutOverAt: Date | null;
};

/**
 * Errors: not_found app_not_found; conflict ids_already_own, id_move_exists, id_move_ending; invalid sector_refused,
 * cut_over_passed.
 */
export async function checkNewIdMove(
  tx: Transaction,
  { clientId, subjectType, sector, cutOverAt }: NewIdMove,
  now: Date,
) {
  const app = await getLockedApp(tx, clientId);
  if (app.subjectType !== "SHARED") throw refuse("ids_already_own", "The app has ids of its own already.");
  const before = await tx.prisma.idMove.findUnique({ where: { clientId } });
  if (before?.state === "CALLED_OFF")
    throw refuse("id_move_ending", "The move that was called off is still being undone. Try again in a minute.");
  if (before !== null) throw refuse("id_move_exists", "The app is being moved to ids of its own already.");
  await checkSector(tx, { subjectType, sector });
  checkCutOver(cutOverAt, now);
  return app;
}

/** Errors: as `checkNewIdMove`. */
export async function startIdMove(tx: Transaction, move: NewIdMove, origin: Origin): Promise<void> {
  const { clientId, subjectType, sector: newSector = randomUUID(), cutOverAt } = move;
  const app = await checkNewIdMove(tx, move, origin.at);
  // After a move that was called off, the app has a sector with the ids that it knows.
  const oldSector = app.sector ?? randomUUID();
  await tx.prisma.idMove.create({
    data: { clientId, subjectType, oldSector, newSector, cutOverAt, startedAt: origin.at },
  });
  await recordAudit(tx, { ...origin, action: "id_move_started", clientId, detail: { subjectType, cutOverAt } });
}

/** Errors: not_found id_move_not_found; conflict id_move_over; invalid cut_over_passed. */
export async function updateIdMove(
  tx: Transaction,
  { clientId, cutOverAt }: Pick<NewIdMove, "clientId" | "cutOverAt">,
  origin: Origin,
): Promise<void> {
  await lockOpenMove(tx, clientId);
  checkCutOver(cutOverAt, origin.at);
  await tx.prisma.idMove.update({ where: { clientId }, data: { cutOverAt } });
  await recordAudit(tx, { ...origin, action: "id_move_updated", clientId, detail: { cutOverAt } });
}

/**
 * From its commit on, the app reads the new ids and none of the old ones.
 *
 * Errors: not_found id_move_not_found; conflict id_move_over, id_move_not_ready.
 */
export async function cutOverIdMove(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  await lockApp(tx, clientId);
  const { state, isAnnounced, subjectType, oldSector, newSector: sector } = await lockOpenMove(tx, clientId);
  if (state !== "RUNNING" || !isAnnounced)
    throw refuse("id_move_not_ready", "The new ids are not yet announced to the app. Try again when they are.");
  await tx.prisma.app.update({ where: { clientId }, data: { sector, subjectType, updatedAt: origin.at } });
  await renameErasures(tx, { clientId, oldSector, newSector: sector });
  await tx.prisma.idMove.update({
    where: { clientId },
    data: { state: "CUT_OVER", cutOverAt: origin.at, leasedUntil: null },
  });
  await recordAudit(tx, { ...origin, action: "id_move_cut_over", clientId });
}

/**
 * The ids that the app knows stay: those from before the move, and those of people who came meanwhile.
 *
 * Errors: not_found id_move_not_found; conflict id_move_over.
 */
export async function callOffIdMove(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  await lockApp(tx, clientId);
  await lockOpenMove(tx, clientId);
  await tx.prisma.idMove.update({ where: { clientId }, data: { state: "CALLED_OFF", leasedUntil: null } });
  await recordAudit(tx, { ...origin, action: "id_move_called_off", clientId });
}

const lockRow = makeRowLock("idMove", "clientId", "access.lockIdMove");

export async function lockMove(tx: Transaction, clientId: ClientId) {
  await lockRow(tx, clientId);
  return tx.prisma.idMove.findUnique({ where: { clientId } });
}

async function lockOpenMove(tx: Transaction, clientId: ClientId) {
  const move = await lockMove(tx, clientId);
  if (move === null || move.state === "CALLED_OFF")
    throw new AppError("not_found", "id_move_not_found", "The app is not being moved to ids of its own.");
  if (move.state === "CUT_OVER")
    throw refuse("id_move_over", "The app has its own ids already: the cut-over was made.");
  return move;
}

function checkCutOver(cutOverAt: Date | null, now: Date): void {
  if (cutOverAt !== null && cutOverAt <= now)
    throw new AppError("invalid", "cut_over_passed", "The time of the cut-over must be in the future.");
}

const refuse = (code: string, message: string) => new AppError("conflict", code, message);

type Row = Prisma.IdMoveModel;

/** Which ids of the list of changes the app reads. */
export type IdInUse = "OLD" | "NEW";

type PresentedColumn =
  "subjectType" | "people" | "isAnnounced" | "read" | "readAt" | "startedAt" | "cutOverAt" | "forgottenAt";

export type IdMove = Pick<Row, PresentedColumn> & {
  clientId: ClientId;
  state: Exclude<Row["state"], "CALLED_OFF">;
  /** The sector that the partner's other apps can choose; null for ids of the app alone. */
  sector: string | null;
  /** How many people were announced. */
  announced: number;
};

/** Null if there was none, or it was called off. */
export async function findIdMove({ prisma }: RecordStore, clientId: ClientId): Promise<IdMove | null> {
  const move = await prisma.idMove.findUnique({
    where: { clientId },
    omit: { clientId: true, announcedUpTo: true, readUpTo: true, leasedUntil: true },
  });
  if (move === null || move.state === "CALLED_OFF") return null;
  const { state, oldSector, newSector, passed, ...rest } = move;
  const left = await prisma.pairwiseId.count({ where: { sector: oldSector, isUnannounced: true } });
  const sector = rest.subjectType === "PARTNER" ? newSector : null;
  return { ...rest, clientId, state, sector, announced: Math.max(passed - left, 0) };
}
