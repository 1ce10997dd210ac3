import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import type { Clock } from "../platform/clock.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { makeFind, sql, table, update } from "../platform/database/sql.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { Log } from "../platform/telemetry/log.ts";

type Deps = { db: PrismaDb; clock: Clock; log: Log; issuerUrl: string; mail: { url: string; from: string } };

const r = table("rosterRun", "r");
const due = table("rosterRun", "due");
const atOnce = 10;
/** Doubled at each try: the last is 64 hours after the first, so that a weekend without the mail server loses none. */
const retryMinutes = 15;
const mostTries = 9;

// Put off first: after a crash it is sent again later, and two processes do not send the same.
const takeDue = makeFind<{ id: string }, { now: Date }>(
  ({ now }) => sql`
  ${update("rosterRun", "r", {
    noticeTries: sql`${r.noticeTries} + 1`,
    noticeDueAt: sql`CASE WHEN ${r.noticeTries} + 1 < ${mostTries}::int
      THEN ${now}::timestamptz + make_interval(mins => ${retryMinutes}::int * (1 << ${r.noticeTries})) END`,
  })}
  WHERE ${r.id} = ANY (ARRAY(SELECT ${due.id} FROM ${due} WHERE ${due.noticeDueAt} <= ${now}
    ORDER BY ${due.noticeDueAt} LIMIT ${atOnce} FOR UPDATE SKIP LOCKED))
  RETURNING ${r.id} AS id`,
  "connections.takeDueNotices",
);

type Notice = { notice: keyof typeof english.notice; name: string; failure: string | null; address: string };

/** Without names of people, and without what the source said. */
function writeMail({ notice, name, failure, address }: Notice): { subject: string; text: string } {
  const code = failure === null ? "" : ` (${failure})`;
  return {
    subject: `${name}: ${german.notice[notice]}`,
    text: `${german.notice[notice]}${code}\n${english.notice[notice]}${code}\n\n${name}\n${address}\n`,
  };
}

/** Tells the addresses of connections what became of their runs, by SMTP. */
export function makeRosterMail({ db, clock, log, issuerUrl, mail }: Deps): WorkerJob {
  // Without the error's text, which may name addresses.
  const warn = (runId: string, error: unknown): void =>
    log.warn({ runId, code: (error as NodeJS.ErrnoException).code }, "mail about a roster was not sent");

  async function send(runId: string): Promise<void> {
    const run = await db.prisma.rosterRun.findUniqueOrThrow({
      where: { id: runId },
      include: { connection: { include: { schools: { take: 1 } } } },
    });
    const { connection, notice, failure, noticeDueAt } = run;
    const told = new Set(run.noticeTold);
    const path = `/admin/schools/${connection.schools[0]?.schoolId ?? ""}/roster-connections/${connection.id}`;
    const address = new URL(path, issuerUrl).href;
    // Loaded for the first message: most services send none.
    const { createTransport } = await import("nodemailer");
    const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
    const transport = createTransport({ url: mail.url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
    try {
      const message = writeMail({ notice: notice as Notice["notice"], name: connection.name, failure, address });
      for (const to of connection.notifyAddresses.filter((address) => !told.has(address)))
        await transport.sendMail({ from: mail.from, to: { name: "", address: to }, ...message }).then(
          () => told.add(to),
          (error: unknown) => warn(runId, error),
        );
    } finally {
      transport.close();
    }
    const isOver = noticeDueAt === null || connection.notifyAddresses.every((address) => told.has(address));
    const data = isOver ? { noticeDueAt: null, noticeTold: [] } : { noticeTold: [...told] };
    await db.prisma.rosterRun.update({ where: { id: runId }, data });
  }
  return {
    name: "connections.mail",
    everySeconds: 60,
    async run(signal) {
      const sendSome = async () => {
        const rows = await withPrismaTransaction(db, (tx) => takeDue(tx, { now: clock() }));
        for (const { id } of rows) await send(id).catch((error: unknown) => warn(id, error));
        return rows.length;
      };
      await workInBatches(signal, sendSome, atOnce);
    },
  };
}
