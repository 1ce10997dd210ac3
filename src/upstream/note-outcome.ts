import { makeRun, sql, type Queryable, update } from "../platform/database/sql.ts";
import type { ConnectionFailure } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import { connection } from "./ready-connection.ts";

/** After these failures, the connection counts as failing until a sign-in or a check succeeds. */
const lasting = new Set<ConnectionFailure>(["UPSTREAM_DOWN", "SECRET_REFUSED", "CLOCK"]);
const minute = sql`interval '1 minute'`;

const writeFailure = makeRun<{ id: ConnectionId; code: string; lasts: boolean; now: Date }>(
  ({ id, code, lasts, now }) => sql`
    ${update("upstreamConnection", "connection", {
      lastFailure: code,
      lastFailureAt: now,
      failingSince: sql`CASE WHEN ${lasts} THEN coalesce(${connection.failingSince}, ${now}::timestamptz)
        ELSE ${connection.failingSince} END`,
    })}
    WHERE ${connection.id} = ${id} AND (${connection.lastFailure} IS DISTINCT FROM ${code}
      OR ${connection.lastFailureAt} < ${now}::timestamptz - ${minute}
      OR ${lasts} AND ${connection.failingSince} IS NULL)`,
  "upstream.noteFailure",
);

/** For the page of the connection. `isProven`: the provider said it, not the browser, in which anybody can type. */
export async function noteFailure(
  db: Queryable,
  { id, code, isProven, now }: { id: ConnectionId; code: ConnectionFailure; isProven: boolean; now: Date },
): Promise<void> {
  await writeFailure(db, { id, code, lasts: isProven && lasting.has(code), now });
}

const writeSuccess = makeRun<{ id: ConnectionId; now: Date }>(
  ({ id, now }) => sql`
    ${update("upstreamConnection", "connection", { lastSuccessAt: now, failingSince: sql`NULL` })}
    WHERE ${connection.id} = ${id} AND (${connection.failingSince} IS NOT NULL OR ${connection.lastSuccessAt} IS NULL
      OR ${connection.lastSuccessAt} < ${now}::timestamptz - ${minute})`,
  "upstream.noteSuccess",
);

/** At most once a minute, so that a school that signs in does not rewrite one row for each pupil. */
export async function noteSuccess(
  db: Queryable,
  { id, lastSuccessAt, failingSince }: { id: ConnectionId; lastSuccessAt: Date | null; failingSince: Date | null },
  now: Date,
): Promise<void> {
  if (failingSince === null && lastSuccessAt !== null && now.getTime() - lastSuccessAt.getTime() < 60_000) return;
  await writeSuccess(db, { id, now });
}
