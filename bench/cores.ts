/**
 * The service with one process for requests against two, on one port and one database.
 *
 * On a machine of two processors the load and PostgreSQL need as much as the service, so two processes cannot show what
 * they can do: BENCH_SHARE gives each of them that share of a processor only, and the rest is free for the others.
 */
import type { ClientId } from "../src/access/index.ts";
import { makeMakers } from "../test/support/make.ts";
import { basic, getAppToken, giveLogin } from "../test/support/token.ts";
import { childrenOf, cpuSeconds, parentOf } from "./cores/cpu-time.ts";
import { limitProcesses } from "./cores/limit.ts";
import { openBenchDatabase } from "./database.ts";
import { measureFlow, measureRequests, measureUrls, startSubject, type Rate, type Subject } from "./harness.ts";
import { openSessions, signOn } from "./sign-on.ts";

type Service = Subject & { web: number[]; first: number[]; endLimit(): void };
type Measured = Rate & { web: number; first: number; postgres: number; load: number; seconds: number };
type Run = (connections: number) => Promise<Rate>;

const seconds = Number(process.env["BENCH_SECONDS"] ?? 5);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const share = Number(process.env["BENCH_SHARE"] ?? 0.25);
const connections = 16;
const wanted = 1.7;

const database = await openBenchDatabase();
const services: Service[] = [];
try {
  const make = makeMakers(database.db);
  const school = await make.school();
  const app = await make.app({ clientId: "bench" as ClientId });
  const groups = await Promise.all(Array.from({ length: 40 }, () => make.group({ school })));
  const people = await make.people({ school, count: 1000, groups, groupsEach: 3 });
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", groups });
  const logins = await Promise.all(people.slice(0, connections).map((person) => giveLogin(database.db, person)));
  await database.db.pool.query("VACUUM ANALYZE");
  const { rows } = await database.db.pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const postmaster = parentOf(rows[0]!.pid);

  const start = async (processes: number): Promise<Service> => {
    const subject = await startSubject(`${processes} processes`, "./subjects/service.ts", {
      DATABASE_URL: database.url,
      LOG_LEVEL: "warn",
      ROLE: "web",
      WEB_CONCURRENCY: String(processes),
    });
    const web = processes > 1 ? childrenOf(subject.pid) : [subject.pid];
    if (web.length !== processes) throw new Error(`${web.length} processes run, not ${processes}`);
    const first = processes > 1 ? [subject.pid] : [];
    const service = { ...subject, web, first, endLimit: share < 1 ? limitProcesses(web, share) : () => undefined };
    services.push(service);
    return service;
  };
  const [one, two] = [await start(1), await start(2)];

  const measure = async (service: Service, run: () => Promise<Rate>): Promise<Measured> => {
    const read = () => ({
      web: cpuSeconds(service.web),
      first: cpuSeconds(service.first),
      postgres: cpuSeconds([postmaster], { withEnded: true }) + cpuSeconds(childrenOf(postmaster)),
      load: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
      seconds: performance.now() / 1000,
    });
    const before = read();
    const rate = await run();
    const after = read();
    const used = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]),
    ) as typeof before;
    return { ...rate, ...used };
  };

  const workloads: [what: string, makeRun: (service: Service) => Promise<Run>][] = [
    [
      "`GET /users/:id`",
      async (service) => {
        const headers = { authorization: `Bearer ${await getAppToken(service, app, ["users:read"])}` };
        const paths = [`/idm/ep/v1/users/${people[0]!}`];
        return (connections) => measureUrls(service.url, { paths, headers, connections, seconds });
      },
    ],
    [
      "client credentials",
      async (service) => {
        const headers = { ...basic(app), "content-type": "application/x-www-form-urlencoded" };
        const body = "grant_type=client_credentials&scope=urn:schultor:idm:v1:schools:read";
        const requests = [{ method: "POST" as const, path: "/oauth2/token", headers, body }];
        return (connections) => measureRequests(service.url, { requests, connections, seconds });
      },
    ],
    [
      "code + PKCE sign-on with a session",
      async (service) => {
        const flows = (await openSessions(service.url, app, logins)).map(signOn);
        return (connections) => measureFlow((index) => flows[index % flows.length]!(), { connections, seconds });
      },
    ],
  ];
  console.log(
    `Each process has ${share < 1 ? `${share * 100} % of a processor` : "a processor, if there are as many"}; ${rounds} rounds of ${seconds} s.\n`,
  );
  console.log(
    "| What | One process | Two | Ratio min / median / max | At least | CPU of a request in them, one / two | Shares of CPU with two: processes, first process, PostgreSQL, load | Failed |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  for (const [what, makeRun] of workloads) {
    const [runOne, runTwo] = [await makeRun(one), await makeRun(two)];
    for (const [title, atOne, atTwo] of [
      [`${what}, ${connections} connections`, connections, connections],
      [`${what}, ${connections} connections for each process`, connections, 2 * connections],
    ] as const) {
      const sides = [() => runOne(atOne), () => runTwo(atTwo)] as const;
      for (const run of sides) await run();
      const measured: [Measured, Measured][] = [];
      for (let round = 0; round < rounds; round++)
        measured.push([await measure(one, sides[0]), await measure(two, sides[1])]);
      console.log(presentRow(title, measured));
    }
  }
} finally {
  for (const service of services) {
    await service.stop();
    service.endLimit();
  }
  await database.close();
}
process.exit(0);

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function presentRow(what: string, measured: [Measured, Measured][]): string {
  const ratios = measured.map(([one, two]) => two.perSecond / one.perSecond);
  const rate = (side: 0 | 1) => `${median(measured.map((pair) => pair[side].perSecond)).toFixed(0)}/s`;
  const cost = (side: 0 | 1) =>
    `${median(measured.map((pair) => (pair[side].web / (pair[side].perSecond * pair[side].seconds)) * 1e6)).toFixed(0)} µs`;
  const used = (name: "web" | "first" | "postgres" | "load") =>
    median(measured.map(([, two]) => (two[name] / two.seconds) * 100)).toFixed(0);
  const failed = measured.flat().reduce((sum, one) => sum + one.failed, 0);
  const [low, mid, high] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
  return `| ${what} | ${rate(0)} | ${rate(1)} | ${low} / **${mid}** / ${high} | ${wanted} | ${cost(0)} / ${cost(1)} | ${used("web")} %, ${used("first")} %, ${used("postgres")} %, ${used("load")} % | ${failed} |`;
}
