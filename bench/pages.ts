// Pages of `personen-info` among 100,000 people, of an app with shared ids and of one with ids of its own: the last
// page against the first, one person by `pid` against the same person in the IDM API, and a walk against the list.
import { getAppToken, type TestApp } from "../test/support/token.ts";
import { fillDatabase, filledApps } from "../test/support/fill.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureUrls, report, reportHead, startSubject, type Subject } from "./harness.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const people = Number(process.env["BENCH_PEOPLE"] ?? 100_000);
const path = "/idm/schulconnex/v1/personen-info";
const apps = { "shared ids": filledApps.everywhere, "ids of its own": filledApps.byGroups };

const database = await openBenchDatabase();
const { db } = database;
let service: Subject | undefined;
try {
  await fillDatabase(db, { schools: people / 250, people }, { analyze: false });
  // Both see the same people.
  await db.pool.query(`
    SET statement_timeout = 0;
    INSERT INTO synced_group (client_id, school_id, group_id)
      SELECT '${filledApps.byGroups}', school_id, group_id FROM synced_group WHERE client_id = '${filledApps.everywhere}'
      ON CONFLICT DO NOTHING;
    UPDATE app SET subject_type = 'APP', sector = gen_random_uuid() WHERE client_id = '${filledApps.byGroups}';
    INSERT INTO pairwise_id (person_id, record_id, sector, id)
      SELECT person_id, record_id, sector, gen_random_uuid() FROM app, (
        SELECT id AS person_id, id AS record_id FROM person UNION ALL SELECT person_id, id FROM affiliation) AS known
      WHERE client_id = '${filledApps.byGroups}';
`);
  await db.pool.query("VACUUM ANALYZE");
  service = await startSubject("service", "./subjects/service.ts", {
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
    // Without the job that deletes people.
    ROLE: "web",
  });
  const { url } = service;
  const sides = { rounds, subjects: { ours: service, base: service }, db };
  const walks: string[] = [];
  console.log(reportHead);
  for (const [kind, clientId] of Object.entries(apps)) {
    const app: TestApp = { clientId, clientSecret: "secret", redirectUri: "" };
    const headers = { authorization: `Bearer ${await getAppToken(service, app, ["people:read"])}` };
    const read = async (query: string) => {
      const response = await fetch(`${url}${path}${query}`, { headers });
      if (response.status !== 200) throw new Error(`${query}: ${await response.text()}`);
      return ((await response.json()) as { pid: string }[]).map(({ pid }) => pid);
    };
    const began = performance.now();
    const pids = await read("?limit=1000");
    for (let page = pids; page.length === 1000; pids.push(...page))
      page = await read(`?limit=1000&offset=${pids.at(-1)!}`);
    const walked = performance.now();
    const whole = await read("");
    const ended = performance.now();
    if (whole.toSorted().join() !== pids.join()) throw new Error(`${kind}: the pages are not the list`);
    walks.push(
      `${kind}: ${String(pids.length)} people in ${((walked - began) / 1000).toFixed(1)} s by pages of 1,000, in ${((ended - walked) / 1000).toFixed(1)} s as a list; ${(await service.readPeakMb()).toFixed(0)} MB at most`,
    );
    const measure = (asked: string) => () => measureUrls(url, { paths: [asked], headers, connections: 2, seconds });
    const last = `${path}?limit=100&offset=${pids.at(-101)!}`;
    const one = pids[Math.floor(pids.length / 2)]!;
    for (const [title, ours, base, target] of [
      ["the last page of 100 against the first", last, `${path}?limit=100`, 0.9],
      ["`?pid=` against `GET /people/:id`", `${path}?pid=${one}`, `/idm/ep/v1/people/${one}?show-deleted=true`, 0.4],
    ] as const)
      console.log(
        report(await compare(`${title}, ${kind}`, target, { ours: measure(ours), base: measure(base), ...sides })),
      );
  }
  console.log(walks.map((walk) => `\n${walk}`).join(""));
} finally {
  await service?.stop();
  await database.close();
}
