import type { SchoolId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { isDatabaseUnavailable, type Db, type RecordStore } from "../../platform/database/db.ts";
import { columnNames, insert, makeRun, sql, table, type Sql } from "../../platform/database/sql.ts";
import type { WorkerJob } from "../../platform/jobs/worker.ts";
import { recordOf } from "../pairwise.ts";
import type { ClientId } from "../token.ts";
import { schoolIsShown, shownSchools } from "../visibility.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";

const client = sql`noted."clientId"`;
const named = sql`noted.id::uuid`;
const app = table("app", "v_called");
const a = table("affiliation", "v_read_at");
const group = table("group", "v_read");
const lastCall = table("lastCall");
const excluded = table("lastCall", "excluded");

/** `from` selects the schools. Sorted, so that two processes do not deadlock. */
const keepLatest = (from: Sql, notWithin: Sql) =>
  makeRun<{ calls: string }>(
    ({ calls }) => sql`
    ${insert(
      "lastCall",
      { clientId: client, schoolId: sql`shown.school_id`, at: sql`max(noted.at)` },
      sql`FROM jsonb_to_recordset(${calls}::jsonb) AS noted ("clientId" text, id text, at timestamptz)
      CROSS JOIN LATERAL (${from}) AS shown (school_id) GROUP BY 1, 2 ORDER BY 1, 2`,
    )}
    ON CONFLICT (${columnNames("lastCall", "clientId", "schoolId")})
    DO UPDATE SET ${columnNames("lastCall", "at")} = ${excluded.at}
    WHERE ${lastCall.at} < ${excluded.at} - ${notWithin}`,
  );

const none = sql`interval '0'`;
const isApp = sql`EXISTS (SELECT FROM ${app} WHERE ${app.clientId} = ${client})`;
const schoolsOfRecord = (id: Sql): Sql =>
  sql`SELECT ${a.schoolId} FROM ${a} WHERE (${a.personId} = ${id} OR ${a.id} = ${id}) AND ${isApp}`;

const keepOf = {
  all: keepLatest(shownSchools(client), sql`interval '1 hour'`),
  school: keepLatest(sql`SELECT ${named} WHERE ${schoolIsShown(client, named)}`, none),
  group: keepLatest(sql`SELECT ${group.schoolId} FROM ${group} WHERE ${group.id} = ${named} AND ${isApp}`, none),
  appRecord: keepLatest(schoolsOfRecord(recordOf(client, named)), none),
  person: keepLatest(schoolsOfRecord(named), none),
};

/**
 * What a call read: lists over all schools, a school, a group, a person or affiliation by the app's id, or a person by
 * the id of this service.
 */
export type ReadKind = keyof typeof keepOf;
const readKinds = Object.keys(keepOf) as ReadKind[];

const mostKeys = { all: 20_000, ofApp: 2_000 };

type Call = { clientId: string; kind: ReadKind; id: string; at: Date };

const keyOf = ({ clientId, kind, id }: Call): string => `${clientId} ${kind} ${id}`;

export type LastCalls = ReturnType<typeof makeLastCalls>;

/**
 * Records when each app last read data of each school, written from memory every minute; a list over all schools counts
 * once an hour. Reading a person counts for all their schools.
 */
export function makeLastCalls({ db, clock }: { db: Db; clock: Clock }) {
  let noted = new Map<string, Call>();
  let counts = new Map<string, number>();

  function keep(call: Call): void {
    const key = keyOf(call);
    if (!noted.has(key)) {
      const counted = `${call.clientId} ${call.kind}`;
      const count = counts.get(counted) ?? 0;
      if (count >= mostKeys.ofApp || noted.size >= mostKeys.all) return;
      counts.set(counted, count + 1);
    }
    noted.set(key, call);
  }

  async function write(calls: readonly Call[]): Promise<void> {
    const byKind = Object.groupBy(calls, ({ kind }) => kind);
    for (const kind of readKinds)
      if (byKind[kind] !== undefined) await keepOf[kind](db.pool, { calls: JSON.stringify(byKind[kind]) });
  }

  async function flush(): Promise<void> {
    const calls = [...noted.values()];
    noted = new Map();
    counts = new Map();
    await write(calls).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) calls.filter((call) => !noted.has(keyOf(call))).forEach(keep);
      throw error;
    });
  }

  const job: WorkerJob = { name: "access.writeLastCalls", everySeconds: 60, inEveryProcess: true, run: flush };
  return {
    /** `id` is unchecked input; empty for a list over all schools. */
    note({ clientId, kind, id }: { clientId: string; kind: ReadKind; id: string }): void {
      if (kind === "all" || uuidPattern.test(id)) keep({ clientId, kind, id, at: clock() });
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
