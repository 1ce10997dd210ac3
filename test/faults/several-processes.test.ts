// @module-tag slow
import { existsSync } from "node:fs";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startMain, startProgram, type Program } from "../support/program.ts";
import { basic, type TestApp } from "../support/token.ts";

const db = await testDatabase();
const several = { DATABASE_URL: db.url, WEB_CONCURRENCY: "2" };
const app: TestApp = await makeMakers(db).app({});

/** Asks over a connection of its own, as the processes take turns at connections. */
function ask(address: string, { body, ...given }: { headers?: Record<string, string>; body?: string } = {}) {
  const options = { agent: false, method: body === undefined ? "GET" : "POST", ...given };
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    request(address, options, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (part: string) => (text += part));
      res.on("end", () => resolve({ status: res.statusCode!, text })).on("error", reject);
    })
      .on("error", reject)
      .end(body);
  });
}

async function getToken(url: string): Promise<string> {
  const headers = { ...basic(app), "content-type": "application/x-www-form-urlencoded" };
  const { status, text } = await ask(`${url}/oauth2/token`, { headers, body: "grant_type=client_credentials" });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (JSON.parse(text) as { access_token: string }).access_token;
}

/** Sends a request without its body; `finish` sends that and returns the status. */
function beginTokenRequest(url: string): Promise<() => Promise<number>> {
  const body = "grant_type=client_credentials";
  const headers = {
    ...basic(app),
    "content-type": "application/x-www-form-urlencoded",
    "content-length": body.length,
    expect: "100-continue",
  };
  return new Promise((resolve, reject) => {
    const req = request(`${url}/oauth2/token`, { agent: false, method: "POST", headers });
    const status = new Promise<number>((answered, failed) =>
      req.on("response", (res) => answered(res.resume().statusCode!)).on("error", failed),
    );
    status.catch(reject);
    // The service asks for the body once it has the headers.
    req.on("continue", () => resolve(() => (req.end(body), status)));
    req.flushHeaders();
  });
}

/** The pids of the processes for requests that logged an answer, by name. */
function answering({ output }: Program): Map<string, Set<number>> {
  const pids = new Map<string, Set<number>>();
  for (const [, name, pid] of output().matchAll(/process=(web \d) pid=(\d+)/g))
    pids.set(name!, (pids.get(name!) ?? new Set()).add(Number(pid)));
  return pids;
}

const isRunning = (pid: number) => existsSync(`/proc/${pid}`);

async function readMetric(url: string, line: string): Promise<number> {
  const { text } = await ask(`${url}/metrics`);
  return Number(
    text
      .split("\n")
      .find((one) => one.startsWith(`${line} `))
      ?.slice(line.length) ?? Number.NaN,
  );
}

/** Two processes for requests that have both answered. */
async function startBoth(): Promise<Program & { url: string; web: number[] }> {
  const program = await startMain(several);
  await expect
    .poll(async () => {
      await ask(`${program.url}/idm/ep/v1/schools`);
      return answering(program).size;
    })
    .toBe(2);
  return { ...program, web: [...answering(program).values()].flatMap((pids) => [...pids]) };
}

test("two processes answer on one port, their metrics are one sum, and one that is killed is replaced with nothing lost", async () => {
  const service = await startBoth();
  const { url, web } = service;
  expect(new Set(web).size).toBe(2);
  expect(web).not.toContain(service.child.pid);
  expect(service.output().match(/Schultor is ready/g)).toHaveLength(1);
  await expect.poll(async () => (await ask(`${url}/health/ready`)).status).toBe(200);

  const issued = 'tokens_issued_total{grant="client_credentials"}';
  // Of a process that does not answer in time, the counts of before are taken.
  const expectIssued = (count: number) => expect.poll(() => readMetric(url, issued)).toBe(count);
  const tokens = await Promise.all(Array.from({ length: 8 }, () => getToken(url)));
  await expectIssued(8);
  expect(await readMetric(url, 'service_processes{role="web"}')).toBe(2);
  expect(await readMetric(url, 'service_processes{role="worker"}')).toBe(1);

  process.kill(web[0]!, "SIGKILL");
  await service.says(/a process ended and is replaced ended=web \d code=null signal=SIGKILL/);
  // The other one has the port for itself now, so every request is answered.
  tokens.push(...(await Promise.all(Array.from({ length: 8 }, () => getToken(url)))));
  await expect.poll(() => readMetric(url, 'service_processes{role="web"}')).toBe(2);
  await expect
    .poll(async () => {
      tokens.push(await getToken(url));
      return [...answering(service).values()].map(({ size }) => size).toSorted();
    })
    .toEqual([1, 2]);
  await expectIssued(tokens.length);
  expect(await readMetric(url, 'service_process_ends_total{role="web"}')).toBe(1);
  const known = await Promise.all(
    tokens.map((token) => ask(`${url}/idm/ep/v1/schools`, { headers: { authorization: `Bearer ${token}` } })),
  );
  expect(new Set(known.map(({ status }) => status))).toEqual(new Set([403]));

  const open = await Promise.all([beginTokenRequest(url), beginTokenRequest(url)]);
  // Every connection that begins while the processes stop is answered or refused; none waits for the open requests.
  const connections: Promise<number | "refused">[] = [];
  const connect = () =>
    ask(`${url}/health/live`).then(
      ({ status }) => status,
      () => "refused" as const,
    );
  const connecting = setInterval(() => connections.push(connect()), 1);
  onTestFinished(() => clearInterval(connecting));
  service.child.kill("SIGTERM");
  await service.says(/Stopping/);
  await expect.poll(() => connections.at(-1)).toBe("refused");
  clearInterval(connecting);
  await Promise.all(connections);
  expect(await Promise.all(open.map((finish) => finish()))).toEqual([200, 200]);
  expect(await service.ended).toEqual({ code: 0, signal: null });
});

test("when the first process is killed the others end, and the jobs ran in one place only", async () => {
  const listeners = watchListeners();
  const service = await startBoth();
  await expect.poll(() => listeners.size).toBe(1);
  service.child.kill("SIGKILL");
  // Its output ends when the last process that writes to it has ended.
  expect(await service.ended).toEqual({ code: null, signal: "SIGKILL" });
  await expect.poll(() => service.web.filter(isRunning)).toEqual([]);
});

/**
 * Collects the sessions that begin to listen for webhooks to send, which the jobs do, until the test ends. After 15 s
 * the last statement of one that listens is another.
 */
function watchListeners(): ReadonlySet<number> {
  const pids = new Set<number>();
  const since = new Date();
  const looking = setInterval(() => {
    void db.pool
      .query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database() AND backend_start > $1",
        [since],
      )
      .then(({ rows }) => rows.forEach(({ pid }) => pids.add(pid)));
  }, 100);
  onTestFinished(() => clearInterval(looking));
  return pids;
}

test("what keeps every process from starting is said once, and ends them all", async () => {
  const program = startProgram(["src/main.ts"], {
    ...several,
    PORT: "0",
    ENCRYPTION_KEYS: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
  });
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.output().match(/None of the encryption keys opens/g)).toHaveLength(1);
});
