import { makeGate, leavingSignal } from "../../platform/http/index.ts";
import type { InterruptibleDb } from "../../platform/database/interrupt.ts";
import { AppError } from "../../platform/errors.ts";
import type { AdminDeps, AdminRequest } from "../handler.ts";

type ImportCall = Pick<AdminRequest<"previewImport">, "connection" | "origin">;

// One at a time in a process: the other connections of the imports are for the rosters that are read and applied.
const gate = makeGate(
  { places: 1, placesPerClient: 1, open: 40, openPerClient: 12, waitMs: 30_000 },
  () =>
    new AppError(
      "rate_limited",
      "too_many_requests",
      "You already have requests of this kind in progress. Wait until they have finished.",
    ),
);

/**
 * Runs `work`, which may take minutes, on a connection of the imports. Errors: rate_limited too_many_requests for a
 * caller with twelve requests in progress; unavailable after a long wait; CallerLeft.
 */
export async function changeByDifference<T>(
  { imports }: Pick<AdminDeps, "imports">,
  { connection, origin }: ImportCall,
  work: (db: InterruptibleDb) => Promise<T>,
): Promise<T> {
  const leave = gate.admit(origin.actorId);
  try {
    const end = await gate.enter(origin.actorId, connection);
    return await work(imports.connections.db).finally(end);
  } finally {
    leave();
  }
}

/** The same for a read, which ends when the caller leaves. */
export function showDifference<T>(
  deps: Pick<AdminDeps, "imports">,
  call: ImportCall,
  work: (db: InterruptibleDb) => Promise<T>,
): Promise<T> {
  const { canceller } = deps.imports.connections;
  return changeByDifference(deps, call, (db) =>
    work({ pool: db.pool, prisma: db.prisma, interrupt: { signal: leavingSignal(call.connection), canceller } }),
  );
}
