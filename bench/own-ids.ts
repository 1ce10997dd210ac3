// What ids of its own cost an app, and a move to them: the same reads and sign-ons as of an app with shared ids, by
// processes in turns.
import { makeIdMoveJob, startIdMove, type ClientId } from "../src/access/index.ts";
import { systemClock } from "../src/platform/clock.ts";
import { withPrismaTransaction } from "../src/platform/database/db.ts";
import { getAppToken, giveLogin, type TestApp } from "../test/support/token.ts";
import { makeMakers } from "../test/support/make.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureFlow, measureUrls, report, reportHead, startSubject, type Subject } from "./harness.ts";
import { openSessions, signOn } from "./sign-on.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const connections = 16;
const target = 0.95;
const scopes = ["schools:read", "groups:read", "people:read", "users:read"] as const;

type Side = { subject: Subject; app: TestApp; headers: Record<string, string>; user: string };

const database = await openBenchDatabase();
const { db } = database;
const subjects: Subject[] = [];
try {
  const make = makeMakers(db);
  const school = await make.school();
  const groups = await Promise.all(Array.from({ length: 40 }, () => make.group({ school })));
  await make.people({ school, count: 1000, groups, groupsEach: 3 });
  const people = await Promise.all(
    Array.from({ length: connections }, () => make.person({ school, groups: groups.slice(0, 3) })),
  );
  const logins = await Promise.all(people.map((person) => giveLogin(db, person)));

  const start = async (subjectType: "APP" | "SHARED", isMoving = false): Promise<Side> => {
    const app = await make.app({ subjectType });
    await make.grant({ app: app.clientId, school, groups });
    if (isMoving) await startMove(app.clientId);
    const subject = await startSubject("service", "./subjects/service.ts", {
      DATABASE_URL: database.url,
      LOG_LEVEL: "warn",
    });
    subjects.push(subject);
    const headers = { authorization: `Bearer ${await getAppToken(subject, app, scopes)}` };
    const list = await (await fetch(`${subject.url}/idm/ep/v1/schools/${school}/users`, { headers })).json();
    return { subject, app, headers, user: (list as { id: string }[])[0]!.id };
  };
  async function startMove(clientId: ClientId): Promise<void> {
    const origin = { at: new Date(), actorId: "bench" };
    await withPrismaTransaction(db, (tx) => startIdMove(tx, { clientId, subjectType: "APP", cutOverAt: null }, origin));
    await makeIdMoveJob({ db, clock: systemClock, keptDays: 90 }).run(new AbortController().signal);
  }
  const shared = await start("SHARED");
  const others = [
    ["ids of its own", await start("APP")],
    ["in a move", await start("SHARED", true)],
  ] as const;
  await db.pool.query("VACUUM ANALYZE");

  console.log(reportHead);
  const measureSignOn = async ({ subject, app }: Side) => {
    const flows = (await openSessions(subject.url, app, logins)).map(signOn);
    return () => measureFlow((index) => flows[index % flows.length]!(), { connections, seconds });
  };
  for (const [kind, other] of others) {
    const both = { rounds, subjects: { ours: other.subject, base: shared.subject }, db };
    for (const [title, pathOf] of [
      ["GET /users/:id", ({ user }: Side) => `/idm/ep/v1/users/${user}`],
      ["GET /schools/:id/people, 1,016 people in 3 groups each", () => `/idm/ep/v1/schools/${school}/people`],
    ] as const) {
      const measure = (side: Side) => () =>
        measureUrls(side.subject.url, { paths: [pathOf(side)], headers: side.headers, connections, seconds });
      const sides = { ours: measure(other), base: measure(shared), ...both };
      console.log(report(await compare(`${title}, ${kind}`, target, sides)));
    }
    const sides = { ours: await measureSignOn(other), base: await measureSignOn(shared), ...both };
    console.log(report(await compare(`code + PKCE sign-on with a session, ${kind}`, target, sides)));
  }
} finally {
  for (const subject of subjects) await subject.stop();
  await database.close();
}
