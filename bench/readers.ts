// Sign-ons beside an app that reads whole lists without a pause, against the same service without those readers.
import { Agent, request } from "undici";
import type { ClientId } from "../src/access/index.ts";
import { makeMakers } from "../test/support/make.ts";
import { getAppToken, giveLogin } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureFlow, report, reportHead, startSubject } from "./harness.ts";
import { openSessions, signOn } from "./sign-on.ts";

const [concurrency, greedy, people] = [16, 20, 20_000];
const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);

const database = await openBenchDatabase();
const service = await startSubject("service", "./subjects/service.ts", {
  DATABASE_URL: database.url,
  LOG_LEVEL: "warn",
});
const agent = new Agent({ connections: greedy });
try {
  const make = makeMakers(database.db);
  const school = await make.school();
  const [app, reader] = [await make.app({ clientId: "bench" as ClientId }), await make.app()];
  const groups = [];
  for (let n = 0; n < 40; n++) groups.push(await make.group({ school }));
  const ids = await make.people({ school, count: people, groups, groupsEach: 3 });
  await make.grant({ app: app.clientId, school });
  await make.grant({ app: reader.clientId, school, groups });
  await database.db.pool.query("VACUUM ANALYZE");
  const logins = await Promise.all(ids.slice(0, concurrency).map((id) => giveLogin(database.db, id)));
  const flows = (await openSessions(service.url, app, logins)).map(signOn);
  const authorization = `Bearer ${await getAppToken(service, reader, ["people:read"])}`;

  const measure = () => measureFlow((index) => flows[index % flows.length]!(), { connections: concurrency, seconds });
  let [lists, refused] = [0, 0];
  const besideReaders = async () => {
    let isOver = false;
    const read = async () => {
      while (!isOver) {
        const { statusCode, body } = await request(`${service.url}/idm/schulconnex/v1/personen-info`, {
          dispatcher: agent,
          headers: { authorization },
        });
        await body.dump({ limit: Number.MAX_SAFE_INTEGER });
        if (statusCode === 200) lists++;
        else refused++;
      }
    };
    const readers = Array.from({ length: greedy }, read);
    const rate = await measure();
    isOver = true;
    await Promise.all(readers);
    return rate;
  };
  console.log(reportHead);
  console.log(
    report(
      await compare(`sign-ons beside ${String(greedy)} greedy readers of one app, against none`, 0.7, {
        ours: besideReaders,
        base: measure,
        rounds,
        db: database.db,
        subjects: { ours: service, base: service },
      }),
    ),
  );
  console.log(`lists of ${String(people)} people read meanwhile: ${String(lists)}; refused: ${String(refused)}`);
} finally {
  await agent.close();
  await service.stop();
  await database.close();
}
