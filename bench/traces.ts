/**
 * What traces cost: the service that sends them to a collector, all of them or one in a hundred, against the service
 * without. The collector only reads; it is in the process of the load.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClientId } from "../src/access/index.ts";
import { makeMakers } from "../test/support/make.ts";
import { getAppToken, giveLogin } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import {
  compare,
  measureFlow,
  measureUrls,
  report,
  reportHead,
  startSubject,
  type Rate,
  type Subject,
} from "./harness.ts";
import { openSessions, signOn } from "./sign-on.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const connections = 16;
const shares = [
  { share: "1", says: "all requests traced", target: 0.8 },
  { share: "0.01", says: "one in a hundred traced", target: 0.8 },
];

const database = await openBenchDatabase();
const collector = await startCounter();
const subjects: Subject[] = [];
try {
  const make = makeMakers(database.db);
  const school = await make.school();
  const app = await make.app({ clientId: "bench" as ClientId });
  const groups = await Promise.all(Array.from({ length: 40 }, () => make.group({ school })));
  const people = await make.people({ school, count: 1000, groups, groupsEach: 3 });
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", groups });
  const logins = await Promise.all(people.slice(0, connections).map((person) => giveLogin(database.db, person)));
  await database.db.pool.query("VACUUM ANALYZE");

  const start = async (name: string, env: Record<string, string>): Promise<Subject> => {
    const subject = await startSubject(name, "./subjects/service.ts", {
      DATABASE_URL: database.url,
      LOG_LEVEL: "warn",
      ...env,
    });
    subjects.push(subject);
    return subject;
  };
  const without = await start("without traces", {});
  const traced = [];
  for (const { share, ...row } of shares) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/${share}`, OTEL_TRACES_SAMPLER_ARG: share };
    traced.push({ ...row, subject: await start(row.says, env) });
  }

  const workloads: [what: string, makeRun: (subject: Subject) => Promise<() => Promise<Rate>>][] = [
    [
      "GET /users/:id",
      async (subject) => {
        const headers = { authorization: `Bearer ${await getAppToken(subject, app, ["users:read"])}` };
        const paths = [`/idm/ep/v1/users/${people[0]!}`];
        return () => measureUrls(subject.url, { paths, headers, connections, seconds });
      },
    ],
    [
      "code + PKCE sign-on with a session",
      async (subject) => {
        const flows = (await openSessions(subject.url, app, logins)).map(signOn);
        return () => measureFlow((index) => flows[index % flows.length]!(), { connections, seconds });
      },
    ],
  ];
  console.log(reportHead);
  for (const [what, makeRun] of workloads) {
    const base = await makeRun(without);
    for (const { says, target, subject } of traced) {
      const ours = await makeRun(subject);
      const sides = { ours, base, rounds, subjects: { ours: subject, base: without }, db: database.db };
      const title = `${what}, ${connections} connections, ${says}, against none`;
      console.log(report(await compare(title, target, sides)));
    }
  }
  // Sends what is left.
  for (const { subject } of traced) await subject.stop();
  const got = shares.map(({ share, says }) => `${says}: ${(collector.bytesOf(share) / 1e6).toFixed(1)} MB`);
  console.log(`\nThe collector got ${got.join(", ")}.`);
  if (shares.some(({ share }) => collector.bytesOf(share) === 0)) throw new Error("no trace arrived");
} finally {
  for (const subject of subjects) await subject.stop();
  collector.close();
  await database.close();
}
process.exit(0);

/** A collector that counts what it gets, by the first part of the path. */
async function startCounter(): Promise<{ url: string; bytesOf(part: string): number; close(): void }> {
  const bytes = new Map<string, number>();
  const server = createServer((request, response) => {
    const part = (request.url ?? "").split("/")[1]!;
    request.on("data", (chunk: Buffer) => bytes.set(part, (bytes.get(part) ?? 0) + chunk.length));
    request.on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, bytesOf: (part) => bytes.get(part) ?? 0, close };
}
