/**
 * What a sign-on, a request and a delivery cost, in the units of Keycloak's sizing guide: `npm run bench -- scale`
 * prints the table of docs/scale.md. A world at BENCH_DATABASE_URL stays and is used again.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Agent, request } from "undici";
import { hashPassword } from "../src/accounts/index.ts";
import { getAppToken, getUserTokens, postToken } from "../test/support/token.ts";
import { openNetwork } from "./monday/browser.ts";
import { signOnInTurns, type Made } from "./monday/closed-loop.ts";
import { measureCost, type Cost } from "./monday/cost.ts";
import { startService, type Service } from "./monday/service.ts";
import { app, makeWays } from "./monday/sign-ons.ts";
import { makePasskeys, makePupils } from "./monday/world.ts";
import { makeClassListWay } from "./scale/class-list.ts";
import { kindNames, kinds, type KindName } from "./scale/kinds.ts";
import { measureProxy } from "./scale/proxy.ts";
import { cellsOf, head } from "./scale/row.ts";
import { openWorld, takeSample } from "./size/worlds.ts";
import { password } from "./world/shape.ts";

const { values } = parseArgs({
  options: {
    people: { type: "string", default: "10000" },
    count: { type: "string", default: "300" },
    "warm-up": { type: "string", default: "1000" },
  },
});
const count = Number(values.count);
// So that code is compiled and each connection has planned its statements, as in a process that has run for a while.
const warmUp = Number(values["warm-up"]);
const connections = 16;
const hashes = 30;

const world = await openWorld(process.env["BENCH_DATABASE_URL"], Number(values.people));
const network = openNetwork(200);
const dispatcher = new Agent({ connections: 64 });
let service: Service | undefined;
try {
  const pupils = await makePupils(world.db);
  service = await startService(world, 20);
  const { web, worker, events } = service;
  const keys = await makePasskeys(world.db, pupils.slice(0, 1000), web.url);
  const ways = makeWays(web, pupils, { keys, network, told: () => undefined });
  const { people } = await takeSample(world);
  const headers = { authorization: `Bearer ${await getAppToken(web, app, ["users:read"])}` };
  const pathOf = (n: number) => `/idm/ep/v1/users/${people[n % people.length]!}`;
  let next = connections;

  const inTurns = async (way: (connection: number) => Promise<void>, times = count): Promise<Cost> => {
    await signOnInTurns(way, { connections, count: warmUp });
    return measureCost(web, world.db, () => signOnInTurns(way, { connections, count: times }));
  };
  const measures: Record<KindName, () => Promise<Cost>> = {
    password: () => inTurns(() => ways.password(next++)),
    hash: () => measureCost({ cpuMs: ownCpuMs }, world.db, () => hashInTurns()),
    passkey: () => inTurns(() => ways.passkey(next++)),
    card: () => inTurns(() => ways.card(next++)),
    async classList() {
      const signIn = await makeClassListWay(web, world.db, network);
      return inTurns(() => signIn(next++));
    },
    session: () => inTurns(ways.session),
    async refresh() {
      const scopes = ["openid", "profile", "offline_access"] as const;
      const tokens: string[] = [];
      for (const { username } of pupils.slice(-connections))
        tokens.push((await getUserTokens(web, app, { username, password }, { scopes })).refresh_token!);
      return inTurns(async (n) => {
        const { body } = await postToken(web, app, { grant_type: "refresh_token", refresh_token: tokens[n]! });
        if (body.refresh_token === undefined) throw new Error(`the refresh was answered ${JSON.stringify(body)}`);
        tokens[n] = body.refresh_token;
      }, 4 * count);
    },
    clientCredentials: () =>
      inTurns(async () => {
        const { status } = await postToken(web, app, { grant_type: "client_credentials" });
        if (status !== 200) throw new Error(`client credentials were answered ${String(status)}`);
      }, 10 * count),
    userRead: () =>
      inTurns(async () => {
        const { statusCode, body } = await request(web.url + pathOf(next++), { dispatcher, headers });
        await body.dump();
        if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
      }, 20 * count),
    delivery: () => measureCost(worker, world.db, () => deliver(10 * count)),
  };

  async function deliver(many: number): Promise<Pick<Made, "count" | "failed">> {
    let sent = 0;
    const { failed } = await signOnInTurns(() => events.send(sent++), { connections, count: many });
    const arrived = (await events.read()).filter(Number.isFinite).length;
    return { count: arrived, failed: failed + many - arrived };
  }

  console.log(`${values.people} people, ${cpus().length} processors, load ${loadavg()[0]!.toFixed(0)}\n`);
  const proxy = await measureProxy({ url: web.url, path: pathOf(0), headers }, 10 * count);
  console.log(`| ${head.join(" | ")} |\n|${"---|".repeat(head.length)}`);
  for (const name of kindNames) console.log(`| ${cellsOf(kinds[name], await measures[name](), proxy).join(" | ")} |`);
  console.log(`\nMemory: web ${web.memoryMb().toFixed(0)} MB, worker ${worker.memoryMb().toFixed(0)} MB`);
  if (proxy !== null)
    console.log(
      `CPU of nginx: ${(proxy.requestMs * 1000).toFixed(0)} µs for a request, ${(proxy.connectionMs * 1000).toFixed(0)} µs for a new connection`,
    );
} finally {
  await Promise.all([network.close(), dispatcher.close()]);
  await service?.stop();
  await world.close();
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function hashInTurns(): Promise<{ count: number; failed: number }> {
  for (let n = 0; n < hashes; n++) await hashPassword(password);
  return { count: hashes, failed: 0 };
}
