import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { makeFaults, type Fault, type Faults } from "../support/nth-fault.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { makeTestClock, type TestClock } from "../support/service.ts";
import { startWebhooks, type WebhookWorld } from "../support/webhooks.ts";

/** How a receiver answers: with a status, or by closing the connection. */
export type Answer = number | "close";
/** A fault at the nth call of the receiver: it closes the connection, or the process dies before it has the answer. */
export type CallFault = { nth: number; does: "close" | "kill" };

export const settings = { retrySeconds: [5], disableAfterDays: 1, logDays: 2 };

type Process = { db: TestDatabase; faults: Faults; webhooks: WebhookWorld };
type Endpoint = { id: string; path: string };
type Call = { path: string; id: string; body: string; isAccepted: boolean };

/** What a walk has seen, which its end is compared with. */
export type Facts = {
  calls: Call[];
  /** What was fanned out: each must arrive, or fail for a reason. */
  deliveries: { id: string; endpointId: string; createdAt: Date }[];
  /** Deliveries that were asked for again. */
  repeated: Set<string>;
  /** Endpoints that were disabled or removed while deliveries were under way. */
  endedUnderWay: Set<string>;
  /** Endpoints that were removed. */
  removed: Set<string>;
  sweptAt: Date[];
  /** How often a process lost what it knew of its calls. */
  losses: number;
};

export type World = {
  db: TestDatabase;
  clock: TestClock;
  clientId: string;
  people: PersonId[];
  processes: [Process, Process];
  endpoints: Endpoint[];
  receiver: Receiver;
  answers: Map<string, Answer>;
  callFault: CallFault | null;
  facts: Facts;
};

const db = await testDatabase();
const clock = makeTestClock();
const make = makeMakers(db);
const receiver = await startReceiver();

/** A process of the service: its own connections and its own memory. */
async function startProcess(): Promise<Process> {
  const own = openDatabase({ url: db.url, poolSize: 4 });
  atFileEnd(() => own.close());
  const process = { ...own, prisma: own.prisma, url: db.url };
  return { db: process, faults: makeFaults(own.pool), webhooks: await startWebhooks({ db: process, clock, settings }) };
}
const processes: [Process, Process] = [await startProcess(), await startProcess()];
const school = await make.school();
const group = await make.group({ school });
const people = await Promise.all(Array.from({ length: 4 }, () => make.person({ school, groups: [group] })));

/** An app that sees some people and has no endpoint yet. */
export async function makeWorld(): Promise<World> {
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school, groups: [group] });
  await processes[0].webhooks.settle();
  const facts: Facts = {
    calls: [],
    deliveries: [],
    repeated: new Set(),
    endedUnderWay: new Set(),
    removed: new Set(),
    sweptAt: [],
    losses: 0,
  };
  const world: World = {
    db,
    clock,
    clientId,
    people,
    processes,
    receiver,
    facts,
    endpoints: [],
    answers: new Map(),
    callFault: null,
  };
  receiver.received.length = 0;
  receiver.script(({ path, headers, body }, response) => {
    const fault = world.callFault;
    const isStruck = fault !== null && --fault.nth === 0;
    const answer = isStruck && fault.does === "close" ? "close" : (world.answers.get(path) ?? 204);
    facts.calls.push({ path, id: String(headers["webhook-id"]), body, isAccepted: answer === 200 || answer === 204 });
    if (isStruck && fault.does === "kill") world.processes[0].faults.kill();
    if (answer === "close") response.socket?.destroy();
    else response.writeHead(answer, { location: receiver.url, "retry-after": "9" }).end();
  });
  return world;
}

/** No endpoint of this walk gets events of the next. */
export async function endWorld({ clientId }: World): Promise<void> {
  await db.prisma.webhookEndpoint.deleteMany({ where: { clientId } });
}

export const newPath = (): string => `/${makeUuid(clock())}`;

/** Runs a job in a process with a fault; of a process that died, another takes the place. */
export async function runJob(
  world: World,
  { process: at, job, fault }: { process: 0 | 1; job: Parameters<WebhookWorld["run"]>[0]; fault: Fault | null },
): Promise<void> {
  const { faults, webhooks, db: own } = world.processes[at];
  const { isHit } = await faults.during(fault, () => webhooks.run(job));
  world.callFault = null;
  if (!isHit) return;
  world.facts.losses++;
  if (fault?.kills === false) return webhooks.run(job);
  await webhooks.close();
  world.processes[at].webhooks = await startWebhooks({ db: own, clock, settings });
}
