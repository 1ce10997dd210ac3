/**
 * Pages of the staff at a school of 2,000 people: time and size of each; what 50 of the staff at once take from the IDM
 * API; a dry run that shows 1,000 people to an app; the statements of an explanation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { PersonId, SchoolId } from "../src/directory/index.ts";
import { withPrismaTransaction } from "../src/platform/database/db.ts";
import type { Queryable } from "../src/platform/database/sql.ts";
import { setLogin } from "../test/support/sign-ins.ts";
import { findSignInFacts } from "../src/sign-on/index.ts";
import { giveRole, type StaffRoleName } from "../src/staff/index.ts";
import { makeBrowser, type Browser } from "../test/support/browser.ts";
import { makeMakers } from "../test/support/make.ts";
import { getAppToken } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureUrls, report, reportHead, startSubject } from "./harness.ts";

const [staff, people, classes, times] = [50, 2000, 80, 31];
/** How long somebody of the staff reads a page: at work, and in a hurry. */
const pausesMs = [10_000, 5000];
const [mostMs, mostBytes] = [100, 60_000];
const seconds = Number(process.env["BENCH_SECONDS"] ?? 5);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);

const database = await openBenchDatabase();
const { db } = database;
const service = await startSubject("service", "./subjects/service.ts", {
  DATABASE_URL: database.url,
  LOG_LEVEL: "warn",
  STAFF_SECOND_FACTOR: "offered",
});
try {
  const make = makeMakers(db, new Date());
  const school = await make.school();
  const groups = [];
  for (let n = 0; n < classes; n++) groups.push(await make.group({ school, type: "KLASSE", name: `${String(n)}a` }));
  const ids = await make.people({ school, count: people, groups, groupsEach: 1 });
  const [app, other] = [await make.app(), await make.app()];
  await make.grant({ app: app.clientId, school, groups });
  const [browser, operator] = [await openStaff("SCHOOL_ADMIN", school), await openStaff("OPERATOR", school)];
  await db.pool.query("VACUUM ANALYZE");

  const at = `/admin/schools/${school}`;
  const [person, group] = [ids[0]!, groups[0]!];
  const pages = [
    ...["today", "people", "people?status=ACTIVE", "people?q=Muster", "people?sort=-lastSignIn", "people/new"],
    ...["", "/data", "/apps", "/school", "/sign-in", `/sign-in?app=${app.clientId}`].map(
      (page) => `people/${person}${page}`,
    ),
    ...["classes", "credentials"],
    ...["", "/add", "/logins", `/members/${person}`].map((page) => `classes/${group}${page}`),
    ...["apps", ...["", "/view", "/change", "/withdrawal"].map((page) => `apps/${app.clientId}${page}`)],
    ...["imports", "audit", "staff", "staff/new", "settings"],
  ].map((page) => `${at}/${page}`);
  const ofOperator = [
    ...["/account", "/admin/schools", "/admin/apps", "/admin/figures", "/partner"],
    ...["", "/registration", "/schools", "/scopes", "/webhooks", "/sign-ons", "/requests", "/log"].map(
      (page) => `/partner/apps/${app.clientId}${page}`,
    ),
  ];
  console.log("| Page | Median | Slowest | Size |\n|---|---|---|---|");
  const timings: Timing[] = [];
  for (const page of pages) timings.push(await timePage(browser, page));
  for (const page of ofOperator) timings.push(await timePage(operator, page));
  const over = timings.filter(({ medianMs, bytes }) => medianMs > mostMs || bytes > mostBytes);
  console.log(`\n${String(over.length)} of ${String(timings.length)} pages take more than 100 ms or 60 KB`);

  const explanation = await countStatements((asked) =>
    findSignInFacts(asked, { personId: person, clientId: app.clientId, now: new Date() }),
  );
  console.log(`\nstatements of an explanation: ${String(explanation)}`);

  const dryRun = await timeDryRun(school, other.clientId, groups.slice(0, classes / 2));
  console.log(`\ndry run of a sync of ${String(people / 2)} people: ${dryRun}`);

  const browsers: Browser[] = [];
  for (let n = 0; n < staff; n++) browsers.push(await openStaff("SCHOOL_ADMIN", school));
  const headers = { authorization: `Bearer ${await getAppToken(service, app, ["users:read"])}` };
  const paths = [`/idm/ep/v1/users/${person}`];
  const alone = () => measureUrls(service.url, { paths, headers, connections: 16, seconds });
  const besideStaff = async (pauseMs: number) => {
    let isOver = false;
    const work = browsers.map(async (one, index) => {
      await sleep((index * pauseMs) / staff);
      for (let n = index; !isOver; n++) {
        await (await one.once(pages[n % pages.length]!)).arrayBuffer();
        await sleep(pauseMs);
      }
    });
    const rate = await alone();
    isOver = true;
    await Promise.all(work);
    return rate;
  };
  console.log(`\n${reportHead}`);
  for (const pauseMs of pausesMs) {
    const title = `GET /users/:id beside ${String(staff)} of the staff, a page each every ${String(pauseMs / 1000)} s`;
    console.log(
      report(
        await compare(title, 0.9, {
          ours: () => besideStaff(pauseMs),
          base: alone,
          rounds,
          db,
          subjects: { ours: service, base: service },
        }),
      ),
    );
  }
} finally {
  await service.stop();
  await database.close();
}

/** Somebody of the staff who is signed in; an operator reaches all schools and apps. */
async function openStaff(role: StaffRoleName, school: SchoolId): Promise<Browser> {
  const at = new Date();
  const personId: PersonId = await makeMakers(db, at).person({ school, role: "TEACHER" });
  const login = { username: `staff.${personId}`, password: `password-${personId}` };
  await setLogin(db, { personId, ...login }, { at });
  await withPrismaTransaction(db, (tx) =>
    giveRole(
      tx,
      { role, holder: { personId }, schoolIds: role === "OPERATOR" ? [] : [school], clientIds: [] },
      { giver: null, origin: { at } },
    ),
  );
  const browser = makeBrowser(service.url, { "accept-language": "de" });
  const shown = await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  if (shown.status !== 200) throw new Error(`sign-in was answered ${String(shown.status)}`);
  return browser;
}

type Timing = { medianMs: number; bytes: number };

/** Prints a row of the table. Errors: an answer that is not 200 throws. */
async function timePage(browser: Browser, page: string): Promise<Timing> {
  const taken: number[] = [];
  let size = 0;
  for (let n = 0; n < times; n++) {
    const began = performance.now();
    const answer = await browser.once(page);
    size = (await answer.arrayBuffer()).byteLength;
    taken.push(performance.now() - began);
    if (answer.status !== 200) throw new Error(`${page} was answered ${String(answer.status)}`);
  }
  // The first one compiles the template.
  const sorted = taken.slice(1).sort((a, b) => a - b);
  const shown = page.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ":id");
  const medianMs = sorted[sorted.length >> 1]!;
  console.log(`| \`${shown}\` | ${ms(medianMs)} | ${ms(sorted.at(-1)!)} | ${(size / 1000).toFixed(0)} KB |`);
  return { medianMs, bytes: size };
}

async function countStatements(work: (db: Queryable) => Promise<unknown>): Promise<number> {
  let count = 0;
  const query = (...asked: unknown[]) => ((count += 1), (db.pool.query as (...asked: unknown[]) => unknown)(...asked));
  if ((await work({ query } as Queryable)) === null) throw new Error("there is nothing to explain");
  return count;
}

async function timeDryRun(school: SchoolId, clientId: string, groupIds: string[]): Promise<string> {
  const operator = await makeMakers(db).app({ scopes: ["admin:read", "admin:write"] });
  await withPrismaTransaction(db, (tx) =>
    giveRole(
      tx,
      { role: "OPERATOR", holder: { clientId: operator.clientId }, schoolIds: [], clientIds: [] },
      { giver: null, origin: { at: new Date() } },
    ),
  );
  const authorization = `Bearer ${await getAppToken(service, operator, ["admin:read", "admin:write"])}`;
  const taken: number[] = [];
  for (let n = 0; n < 5; n++) {
    const began = performance.now();
    const answer = await fetch(`${service.url}/admin/v1/schools/${school}/grants/${clientId}?dry-run=true`, {
      method: "PUT",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ signOn: { kind: "GROUPS", groupIds }, sync: true, syncedGroupIds: groupIds }),
    });
    const changes = (await answer.json()) as { people?: { enter: number } }[];
    taken.push(performance.now() - began);
    if (changes[0]?.people?.enter !== people / 2) throw new Error(`the dry run answered ${JSON.stringify(changes)}`);
  }
  return ms(taken.sort((a, b) => a - b)[2]!);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
