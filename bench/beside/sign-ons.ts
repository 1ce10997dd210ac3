import { makeMakers } from "../../test/support/make.ts";
import { giveLogin } from "../../test/support/token.ts";
import { openBenchDatabase } from "../database.ts";
import { compare, measureFlow, report, reportHead, startSubject, type Subject } from "../harness.ts";
import { openSessions, signOn } from "../sign-on.ts";
import type { ClientId } from "../../src/access/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";

const concurrency = 16;
const people = 20_000;
const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);

/** What the load gets to work with. Shape: the school has the people, three groups each. */
export type World = {
  service: Subject;
  db: PrismaDb;
  make: ReturnType<typeof makeMakers>;
  school: Awaited<ReturnType<ReturnType<typeof makeMakers>["school"]>>;
  groups: Awaited<ReturnType<ReturnType<typeof makeMakers>["group"]>>[];
};

/** A load that runs until the signal aborts. Shape: `prepare` is called once, `summary` says what the load did. */
export type Load = {
  /** What the sign-ons are beside of, as the report calls it. */
  title: string;
  prepare(
    world: World,
  ): Promise<{ run(signal: AbortSignal): Promise<void>; summary(): string; close?(): Promise<void> }>;
};

/** Prints the rate of sign-ons with a session beside a load, against that of the same service without it. */
export async function measureSignOnsBeside({ title, prepare }: Load): Promise<void> {
  const database = await openBenchDatabase();
  const service = await startSubject("service", "./subjects/service.ts", {
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
  });
  try {
    const make = makeMakers(database.db);
    const school = await make.school();
    const app = await make.app({ clientId: "bench" as ClientId });
    const groups: World["groups"] = [];
    for (let n = 0; n < 40; n++) groups.push(await make.group({ school }));
    const ids = await make.people({ school, count: people, groups, groupsEach: 3 });
    await database.db.pool.query("VACUUM ANALYZE");
    await make.grant({ app: app.clientId, school });
    const load = await prepare({ service, db: database.db, make, school, groups });
    await database.db.pool.query("VACUUM ANALYZE");
    const logins = await Promise.all(ids.slice(0, concurrency).map((id) => giveLogin(database.db, id)));
    const flows = (await openSessions(service.url, app, logins)).map(signOn);
    const measure = () => measureFlow((index) => flows[index % flows.length]!(), { connections: concurrency, seconds });
    const measureBeside = async () => {
      const stopping = new AbortController();
      const running = load.run(stopping.signal);
      const rate = await measure();
      stopping.abort();
      await running;
      return rate;
    };
    const comparison = await compare(`sign-ons beside ${title}, against none`, 0.7, {
      ours: measureBeside,
      base: measure,
      rounds,
      db: database.db,
      subjects: { ours: service, base: service },
    });
    console.log(`${reportHead}\n${report(comparison)}\n${load.summary()}`);
    await load.close?.();
  } finally {
    await service.stop();
    await database.close();
  }
}
