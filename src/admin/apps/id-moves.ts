import * as access from "../../access/index.ts";
import type { ClientId, IdMove as Found, NewIdMove } from "../../access/index.ts";
import { addDays } from "../../platform/clock.ts";
import { storeOf, withPrismaTransaction, type RecordStore, type Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { answerRecord, changeRecord, commitCreated, tagOf } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";

type IdMove = Schemas["IdMove"];

const idMoveNotFound = () =>
  new AppError("not_found", "id_move_not_found", "The app is not being moved to ids of its own.");

function presentMove(move: Found, { idChangesDays }: AdminDeps): IdMove {
  const isOver = move.state === "CUT_OVER";
  const subjectType = move.subjectType as IdMove["subjectType"];
  const readableUntil = isOver ? addDays(move.cutOverAt!, idChangesDays) : null;
  return present("IdMove", { ...move, subjectType, readableUntil });
}

const progress = ["people", "announced", "read", "readAt"] as const;

async function readMove(db: RecordStore, clientId: ClientId, deps: AdminDeps): Promise<IdMove> {
  const move = await access.findIdMove(db, clientId);
  if (move === null) throw idMoveNotFound();
  return presentMove(move, deps);
}

export const getIdMove: AdminHandler<"getIdMove"> = async (deps, { clientId }) =>
  answerRecord(await readMove(storeOf(deps.db), clientId, deps), progress);

export const createIdMove: AdminHandler<"createIdMove"> = async (deps, request) => {
  const { clientId, body, query, reach, origin } = request;
  const { subjectType, sector, cutOverAt = null } = body;
  const wish: NewIdMove = { clientId, subjectType, sector, cutOverAt: cutOverAt === null ? null : new Date(cutOverAt) };
  const check = async (tx: Transaction) => {
    if (!reach.all) await access.refuseOthersSector(tx, sector, reach.clientIds);
    await access.checkNewIdMove(tx, wish, origin.at);
  };
  if (query["dry-run"] === true) {
    await withPrismaTransaction(deps.db, check);
    return { status: 200 as const, body: { people: await access.countKnown(deps.db, clientId) } };
  }
  return commitCreated(deps, request, async (tx) => {
    await check(tx);
    await access.startIdMove(tx, wish, origin);
    const body = await readMove(tx, clientId, deps);
    return { body, location: request.address, tag: tagOf(body, progress) };
  });
};

type Change = Pick<AdminRequest<"updateIdMove">, "clientId" | "headers" | "origin" | "keep">;

const changeMove = (deps: AdminDeps, request: Change, work: (tx: Transaction) => Promise<void>, effect?: "ends") =>
  changeRecord(deps, request, {
    record: (tx) => readMove(tx, request.clientId, deps),
    work,
    without: progress,
    effect,
  });

export const updateIdMove: AdminHandler<"updateIdMove"> = (deps, request) => {
  const { clientId, body, origin } = request;
  const cutOverAt = body.cutOverAt === null ? null : new Date(body.cutOverAt);
  return changeMove(deps, request, (tx) => access.updateIdMove(tx, { clientId, cutOverAt }, origin));
};

export const applyIdMove: AdminHandler<"applyIdMove"> = (deps, request) =>
  changeMove(deps, request, (tx) => access.cutOverIdMove(tx, request.clientId, request.origin));

export const deleteIdMove: AdminHandler<"deleteIdMove"> = (deps, request) =>
  changeMove(deps, request, (tx) => access.callOffIdMove(tx, request.clientId, request.origin), "ends");
