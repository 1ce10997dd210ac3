import type { SchoolId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import { isDatabaseUnavailable, type Db, type RecordStore } from "../platform/database/db.ts";
import { columnNames, insert, run, sql, statement, table, type Sql } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { ClientId } from "./token.ts";
import { schoolIsShown, shownSchools } from "./visibility.ts";
import { uuidPattern } from "../platform/crypto/ids.ts";

const client = sql`noted."clientId"`;
const named = sql`noted."schoolId"::uuid`;
const kept = table("lastCall");
const excluded = table("lastCall", "excluded");

/** `from` selects the schools. Sorted, so that two processes do not deadlock. */
const keepLatest = (from: Sql, notWithin: Sql) =>
  statement<{ calls: string }>(
    ({ calls }) => sql`
    ${insert(
      "lastCall",
      { clientId: client, schoolId: sql`shown.school_id`, at: sql`max(noted.at)` },
      sql`FROM jsonb_to_recordset(${calls}::jsonb) AS noted ("clientId" text, "schoolId" text, at timestamptz)
      CROSS JOIN LATERAL (${from}) AS shown (school_id) GROUP BY 1, 2 ORDER BY 1, 2`,
    )}
    ON CONFLICT (${columnNames("lastCall", "clientId", "schoolId")})
    DO UPDATE SET ${columnNames("lastCall", "at")} = ${excluded.at}
    WHERE ${kept.at} < ${excluded.at} - ${notWithin}`,
  );

const keepOfSchool = keepLatest(sql`SELECT ${named} WHERE ${schoolIsShown(client, named)}`, sql`interval '0'`);
const keepOfAll = keepLatest(shownSchools(client), sql`interval '1 hour'`);

const mostKeys = { all: 20_000, ofApp: 2_000 };

type Call = { clientId: string; schoolId: string; at: Date };

export type LastCalls = ReturnType<typeof makeLastCalls>;

/**
 * Records when each app last read each school, written from memory every minute; a list over all schools counts once an
 * hour.
 */
export function makeLastCalls({ db, clock }: { db: Db; clock: Clock }) {
  let noted = new Map<string, Call>();
  let counts = new Map<string, number>();

  function keep(call: Call): void {
    const key = `${call.clientId} ${call.schoolId}`;
    if (!noted.has(key)) {
      const count = counts.get(call.clientId) ?? 0;
      if (count >= mostKeys.ofApp || noted.size >= mostKeys.all) return;
      counts.set(call.clientId, count + 1);
    }
    noted.set(key, call);
  }

  async function write(calls: readonly Call[]): Promise<void> {
    const { all = [], ofSchool = [] } = Object.groupBy(calls, ({ schoolId }) => (schoolId === "" ? "all" : "ofSchool"));
    if (ofSchool.length > 0) await run(db.pool, keepOfSchool, { calls: JSON.stringify(ofSchool) });
    if (all.length > 0) await run(db.pool, keepOfAll, { calls: JSON.stringify(all) });
  }

  async function flush(): Promise<void> {
    const taken = [...noted.values()];
    noted = new Map();
    counts = new Map();
    await write(taken).catch((error: unknown) => {
      const isReplaced = ({ clientId, schoolId }: Call) => noted.has(`${clientId} ${schoolId}`);
      if (isDatabaseUnavailable(error)) taken.filter((call) => !isReplaced(call)).forEach(keep);
      throw error;
    });
  }

  const job: WorkerJob = { name: "access.writeLastCalls", everySeconds: 60, inEveryProcess: true, run: flush };
  return {
    /** `schoolId` is unchecked input; null means a list over all schools. */
    note({ clientId, schoolId }: { clientId: string; schoolId: string | null }): void {
      if (schoolId === null || uuidPattern.test(schoolId)) keep({ clientId, schoolId: schoolId ?? "", at: clock() });
    },
    flush,
    job,
  };
}

export async function findLastCalls(
  { prisma }: RecordStore,
  { schoolId, clientIds }: { schoolId: SchoolId; clientIds: readonly ClientId[] },
): Promise<Map<ClientId, Date>> {
  const rows = await prisma.lastCall.findMany({ where: { schoolId, clientId: { in: [...clientIds] } } });
  return new Map(rows.map(({ clientId, at }) => [clientId as ClientId, at]));
}
