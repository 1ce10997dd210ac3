import {
  appNotFound,
  callOffIdMove,
  checkNewIdMove,
  countKnown,
  cutOverIdMove,
  findIdMove,
  refuseOthersSector,
  startIdMove,
  updateIdMove as update,
  type ClientId,
  type IdMove as Found,
  type NewIdMove,
} from "../access/index.ts";
import { recordDifference } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf, withPrismaTransaction, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { reachesOwnApp, refuseOthersApp } from "./reached.ts";

type IdMove = Schemas["IdMove"];

const idMoveNotFound = () =>
  new AppError("not_found", "id_move_not_found", "The app is not being moved to ids of its own.");

function presentMove({ forgottenAt: _, ...move }: Found, { idChangesDays }: AdminDeps): IdMove {
  const isOver = move.state === "CUT_OVER";
  const subjectType = move.subjectType as IdMove["subjectType"];
  const readableUntil = isOver ? addDays(move.cutOverAt!, idChangesDays) : null;
  return present<IdMove>({ ...move, subjectType, readableUntil });
}

const progress = ["people", "announced", "read", "readAt"] as const;
const tag = (move: IdMove): string => tagOf(move, progress);

async function readMove(db: RecordStore, clientId: ClientId, deps: AdminDeps): Promise<IdMove> {
  const found = await findIdMove(db, clientId);
  if (found === null) throw idMoveNotFound();
  return presentMove(found, deps);
}

export const getIdMove: AdminHandler<"getIdMove"> = async (deps, { clientId, reach }) => {
  await refuseOthersApp(deps.db.pool, reach, clientId);
  const body = await readMove(storeOf(deps.db), clientId, deps);
  return { status: 200, body, headers: { ETag: tag(body) } };
};

export const createIdMove: AdminHandler<"createIdMove"> = async (deps, request) => {
  const { clientId, body, query, reach, origin, keep } = request;
  const { subjectType, sector, cutOverAt = null } = body;
  const wish: NewIdMove = { clientId, subjectType, sector, cutOverAt: cutOverAt === null ? null : new Date(cutOverAt) };
  if (!reachesOwnApp(reach, clientId)) throw appNotFound();
  const check = async (tx: Transaction) => {
    if (!reach.all) await refuseOthersSector(tx, sector, reach.clientIds);
    await checkNewIdMove(tx, wish, origin.at);
  };
  if (query["dry-run"] === true) {
    await withPrismaTransaction(deps.db, check);
    return { status: 200 as const, body: { people: await countKnown(deps.db, clientId) } };
  }
  return withPrismaTransaction(deps.db, async (tx) => {
    await check(tx);
    await startIdMove(tx, wish, origin);
    const made = await readMove(tx, clientId, deps);
    await recordDifference(tx, origin, { before: null, after: made });
    const headers = { Location: `/admin/v1/apps/${clientId}/id-move`, ETag: tag(made) };
    return keep(tx, { status: 201 as const, body: made, headers });
  });
};

type Change = Pick<AdminRequest<"updateIdMove">, "clientId" | "headers" | "reach" | "origin">;

/** Makes a change of a move, and records the difference in its audit line; returns the move, null if it is over. */
function changeMove(
  deps: AdminDeps,
  request: Change,
  work: (tx: Transaction) => Promise<void>,
): Promise<IdMove | null> {
  const { clientId, headers, reach, origin } = request;
  if (!reachesOwnApp(reach, clientId)) throw appNotFound();
  return withPrismaTransaction(deps.db, async (tx) => {
    await refuseOthersApp(tx, reach, clientId);
    const before = await readMove(tx, clientId, deps);
    refuseStale(headers, before, progress);
    await work(tx);
    const found = await findIdMove(tx, clientId);
    const after = found && presentMove(found, deps);
    await recordDifference(tx, origin, differenceOf(before, after));
    return after;
  });
}

export const updateIdMove: AdminHandler<"updateIdMove"> = async (deps, request) => {
  const { clientId, body, origin } = request;
  const cutOverAt = body.cutOverAt === null ? null : new Date(body.cutOverAt);
  const after = await changeMove(deps, request, (tx) => update(tx, { clientId, cutOverAt }, origin));
  return { status: 204, headers: { ETag: tag(after!) } };
};

export const applyIdMove: AdminHandler<"applyIdMove"> = async (deps, request) => {
  const after = await changeMove(deps, request, (tx) => cutOverIdMove(tx, request.clientId, request.origin));
  return { status: 204, headers: { ETag: tag(after!) } };
};

export const deleteIdMove: AdminHandler<"deleteIdMove"> = async (deps, request) => {
  await changeMove(deps, request, (tx) => callOffIdMove(tx, request.clientId, request.origin));
  return { status: 204 };
};
