// OneRoster among 100,000 people in 100 schools, with 300,000 enrollments: lists against the same of the IDM API, the
// last page against the first, and how long the first request after a change takes.
import { getAppToken, type TestApp } from "../test/support/token.ts";
import { fillDatabase, filledApps, findFilled } from "../test/support/fill.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureUrls, report, reportHead, startSubject, type Subject } from "./harness.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const people = Number(process.env["BENCH_PEOPLE"] ?? 100_000);
const schools = people / 1000;
const path = "/ims/oneroster/rostering/v1p2";
const ofOneSchool = filledApps.few;
const { everywhere } = filledApps;

const database = await openBenchDatabase();
const { db } = database;
let service: Subject | undefined;
try {
  await fillDatabase(db, { schools, people }, { analyze: false });
  const { school, group } = await findFilled(db, 0);
  await db.pool.query(`
    SET statement_timeout = 0;
    UPDATE app SET scopes = scopes || '{oneroster:read}';
    UPDATE "grant" SET sync = false WHERE client_id = '${ofOneSchool}' AND school_id <> '${school}';
`);
  await db.pool.query("VACUUM ANALYZE");
  const start = () =>
    startSubject("service", "./subjects/service.ts", { DATABASE_URL: database.url, LOG_LEVEL: "warn", ROLE: "web" });
  service = await start();
  const { url } = service;
  const login = async (clientId: TestApp["clientId"]) => {
    const app: TestApp = { clientId, clientSecret: "secret", redirectUri: "" };
    const scopes = ["schools:read", "groups:read", "people:read", "oneroster:read"] as const;
    return { authorization: `Bearer ${await getAppToken({ url }, app, scopes)}` };
  };
  const headersOf = { [ofOneSchool]: await login(ofOneSchool), [everywhere]: await login(everywhere) };
  const time = async (what: string, list: string) => {
    const began = performance.now();
    const response = await fetch(`${url}${path}${list}`, { headers: headersOf[everywhere]! });
    const body = (await response.json()) as Record<string, unknown[]>;
    const ms = (performance.now() - began).toFixed(0);
    if (response.status !== 200) return `${what}: ${response.status} after ${ms} ms`;
    return `${what}: ${ms} ms, ${String(Object.values(body)[0]!.length)} of ${response.headers.get("x-total-count")!}`;
  };
  const times: string[] = [];
  const first = { users: "/users?limit=100", enrollments: "/enrollments?limit=100" };
  for (const [name, list] of Object.entries(first)) {
    // The app's view changes; the statements are prepared.
    for (const what of ["first request", "first after a change"]) {
      times.push(await time(`${name}, ${what}`, list));
      await db.pool.query(`UPDATE "group" SET name = name || '.' WHERE id = $1`, [group]);
    }
    const offset = name === "users" ? people / 2 : people * 1.5;
    times.push(await time(`${name}, offset ${String(offset)}`, `${list}&offset=${String(offset)}`));
    const delta = `${list}&filter=${encodeURIComponent(`dateLastModified>'${new Date().toISOString()}'`)}`;
    times.push(await time(`${name}, delta without changes`, delta));
  }
  const lastOf = (list: string, all: number) => `${path}${list}&offset=${String(all - 100)}`;
  for (const before of [lastOf(first.users, people - 100), lastOf(first.enrollments, people * 3 - 100)])
    await fetch(url + before, { headers: headersOf[everywhere]! });
  const ofSchool = `/idm/ep/v1/schools/${school}`;
  console.log(reportHead);
  for (const [title, app, ours, base, target] of [
    [
      "users of an app with one school, against its people",
      ofOneSchool,
      "/users?limit=1100",
      `${ofSchool}/people`,
      0.8,
    ],
    ["1,000 of all users, against the people of a school", everywhere, "/users?limit=1000", `${ofSchool}/people`, 0.8],
    [
      "enrollments of a school, against its roster",
      everywhere,
      `/schools/${school}/enrollments?limit=5000`,
      `${ofSchool}/roster`,
      0.8,
    ],
    [
      "last page of 100 users, against the first",
      everywhere,
      lastOf(first.users, people).slice(path.length),
      path + first.users,
      0.9,
    ],
    [
      "last page of 100 enrollments, against the first",
      everywhere,
      lastOf(first.enrollments, people * 3).slice(path.length),
      path + first.enrollments,
      0.9,
    ],
  ] as const) {
    const headers = headersOf[app]!;
    const measure = (asked: string) => () => measureUrls(url, { paths: [asked], headers, connections: 4, seconds });
    const sides = { rounds, subjects: { ours: service, base: service }, db };
    console.log(report(await compare(title, target, { ours: measure(path + ours), base: measure(base), ...sides })));
  }
  console.log(times.map((one) => `\n${one}`).join(""));
} finally {
  await service?.stop();
  await database.close();
}
