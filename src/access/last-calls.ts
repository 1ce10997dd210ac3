import type { SchoolId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import { isDatabaseUnavailable, type Db, type RecordStore } from "../platform/database/db.ts";
import { columnNames, insert, run, sql, statement, table, type Sql } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { ClientId } from "./token.ts";
import { schoolIsShown, shownSchools } from "./visibility.ts";

type Columns = { clientIds: readonly string[]; schoolIds: readonly string[]; times: readonly Date[] };

const kept = table("lastCall");
const excluded = table("lastCall", "excluded");

/** SQL: `from` finds the schools `shown`. Sorted, so that two processes never wait for each other's rows crosswise. */
const keepLatest = (from: Sql, notWithin: Sql) =>
  statement<Columns>(
    ({ clientIds, schoolIds, times }) => sql`
    ${insert(
      "lastCall",
      { clientId: sql`noted.client_id`, schoolId: sql`shown.school_id`, at: sql`max(noted.at)` },
      sql`FROM unnest(${clientIds}::text[], ${schoolIds}::text[], ${times}::timestamptz[])
        AS noted (client_id, school_id, at)
      CROSS JOIN LATERAL (${from}) AS shown (school_id) GROUP BY 1, 2 ORDER BY 1, 2`,
    )}
    ON CONFLICT (${columnNames("lastCall", "clientId", "schoolId")})
    DO UPDATE SET ${columnNames("lastCall", "at")} = ${excluded.at}
    WHERE ${kept.at} < ${excluded.at} - ${notWithin}`,
  );

const client = sql`noted.client_id`;
const named = sql`noted.school_id::uuid`;
const keepOfSchool = keepLatest(sql`SELECT ${named} WHERE ${schoolIsShown(client, named)}`, sql`interval '0'`);
// An app may have a thousand schools and list them all the time.
const keepOfAll = keepLatest(shownSchools(client), sql`interval '1 hour'`);

/** How much a process keeps in a minute: of all apps, and of one, so that none leaves the others without a place. */
const mostKeys = { all: 20_000, ofApp: 2_000 };
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Noted = { clientId: string; schoolId: string; at: Date };

export type LastCalls = {
  /** Notes a call. Shape: `schoolId` as it was sent; null for a list over all schools that the app sees. */
  note(call: { clientId: string; schoolId: string | null }): void;
  /** Writes what was noted since it was last called. */
  flush(): Promise<void>;
  job: WorkerJob;
};

/**
 * Keeps when each app last read data of each school, of the calls that this process answers: in memory, and written
 * together every minute. What a process has not written when it is killed is lost.
 *
 * Units: a list over all schools counts for each of them, once in an hour.
 */
export function makeLastCalls({ db, clock }: { db: Pick<Db, "pool">; clock: Clock }): LastCalls {
  let noted = new Map<string, Noted>();
  let counts = new Map<string, number>();

  function keep(call: Noted): void {
    const key = `${call.clientId} ${call.schoolId}`;
    if (!noted.has(key)) {
      const count = counts.get(call.clientId) ?? 0;
      if (count >= mostKeys.ofApp || noted.size >= mostKeys.all) return;
      counts.set(call.clientId, count + 1);
    }
    noted.set(key, call);
  }

  async function write(calls: readonly Noted[]): Promise<void> {
    const columnsOf = (rows: readonly Noted[]): Columns => ({
      clientIds: rows.map(({ clientId }) => clientId),
      schoolIds: rows.map(({ schoolId }) => schoolId),
      times: rows.map(({ at }) => at),
    });
    const ofSchool = calls.filter(({ schoolId }) => schoolId !== "");
    const all = calls.filter(({ schoolId }) => schoolId === "");
    if (ofSchool.length > 0) await run(db.pool, keepOfSchool, columnsOf(ofSchool));
    if (all.length > 0) await run(db.pool, keepOfAll, columnsOf(all));
  }

  async function flush(): Promise<void> {
    const taken = [...noted.values()];
    noted = new Map();
    counts = new Map();
    await write(taken).catch((error: unknown) => {
      // Written at the next flush, unless there was a later call since.
      const isReplaced = ({ clientId, schoolId }: Noted) => noted.has(`${clientId} ${schoolId}`);
      if (isDatabaseUnavailable(error)) taken.filter((one) => !isReplaced(one)).forEach(keep);
      throw error;
    });
  }

  return {
    note({ clientId, schoolId }) {
      if (schoolId === null || uuid.test(schoolId)) keep({ clientId, schoolId: schoolId ?? "", at: clock() });
    },
    flush,
    job: { name: "access.writeLastCalls", everySeconds: 60, inEveryProcess: true, run: flush },
  };
}

/** When each of some apps last read data of a school; an app that never did is missing. */
export async function findLastCalls(
  { prisma }: RecordStore,
  { schoolId, clientIds }: { schoolId: SchoolId; clientIds: readonly ClientId[] },
): Promise<Map<ClientId, Date>> {
  const rows = await prisma.lastCall.findMany({ where: { schoolId, clientId: { in: [...clientIds] } } });
  return new Map(rows.map(({ clientId, at }) => [clientId as ClientId, at]));
}
