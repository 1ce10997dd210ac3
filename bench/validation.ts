/**
 * What it costs to hold `GET /users/:id` against the contract in three ways, token check and statement included: with
 * the schema of the id where an address carries nothing else, with the validator of express-openapi-validator alone,
 * and with its own middleware in front.
 */
import type { PrismaDb } from "../src/platform/database/db.ts";
import { makeMakers } from "../test/support/make.ts";
import { getAppToken, type TestApp } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureUrls, report, reportHead, startSubject, type Subject } from "./harness.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const database = await openBenchDatabase();
const subjects: Subject[] = [];
try {
  const { app, path } = await makeWorld(database.db);
  const environment = { DATABASE_URL: database.url };
  const start = async (name: string, more: Record<string, string> = {}) => {
    const subject = await startSubject(name, "./subjects/validation.ts", { ...environment, ...more });
    subjects.push(subject);
    return subject;
  };
  const plain = await start("service");
  const behindMiddleware = await start("behind the middleware", { BENCH_FRONT_DOOR: "1" });
  const headers = { authorization: `Bearer ${await getAppToken(plain, app, ["users:read"])}` };
  const measure = (subject: Subject, asked: string) => () =>
    measureUrls(subject.url, { paths: [asked], headers, connections: 16, seconds });

  console.log(reportHead);
  for (const [title, ours, asked] of [
    // An empty query is nothing to the contract, and makes it a request with a query.
    ["the validator at every request, against the schema of the id", plain, `${path}?`],
    ["the library's own middleware, against the schema of the id", behindMiddleware, path],
  ] as const) {
    const sides = { ours: measure(ours, asked), base: measure(plain, path), rounds, db: database.db };
    console.log(report(await compare(title, 0.9, { ...sides, subjects: { ours, base: plain } })));
  }
} finally {
  for (const subject of subjects) await subject.stop();
  await database.close();
}

async function makeWorld(db: PrismaDb): Promise<{ app: TestApp; path: string }> {
  const make = makeMakers(db);
  const app = await make.app({ redirectUris: ["https://app.example/callback"] });
  const school = await make.school();
  const groups = await Promise.all(Array.from({ length: 40 }, () => make.group({ school })));
  await make.people({ school, count: 1000, groups, groupsEach: 3 });
  await make.grant({ app: app.clientId, school, groups });
  await db.pool.query("VACUUM ANALYZE");
  const { rows } = await db.pool.query<{ id: string }>("SELECT id FROM person WHERE home_school_id = $1 LIMIT 1", [
    school,
  ]);
  return { app, path: `/idm/ep/v1/users/${rows[0]!.id}` };
}
