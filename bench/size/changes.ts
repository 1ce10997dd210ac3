// Changes, their events and deliveries, the deletion of people and the jobs, called in this process in both worlds.
import { createHash } from "node:crypto";
import { makeApp, type App } from "../../src/app.ts";
import { changeDirectory } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { softDeletePerson, updatePerson, type PersonId } from "../../src/directory/index.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { openShares } from "../../src/platform/database/shares.ts";
import { dayMs } from "../world/shape.ts";
import { startSubject } from "../harness.ts";
import { compareCost, type Sides, type Work } from "./cost.ts";
import type { Sample, World } from "./worlds.ts";

/** Most pieces of a round. */
const [changes, deletions, runs] = [40, 6, 3];
const expired = 1000;
const hourMs = 3_600_000;
const never = new AbortController().signal;

/** It would count the tables of a world that is to be without statistics. */
const counting = "platform.analyze";

/** Jobs that are measured by what they do for changes, or that do nothing here. */
const notSweeps = new Set(["webhooks.fanOut", "webhooks.deliver", "directory.purgePeople", counting]);

type Side = World & {
  app: App;
  /** Where the jobs believe to be in time. */
  clock: { now: Date };
  people: number;
  /** People to change. */
  left: PersonId[];
  close(): Promise<void>;
};

export async function compareChanges(worlds: Sides<World>, samples: Sides<Sample>): Promise<void> {
  const receiver = await startSubject("receiver", "./subjects/receiver.ts", {});
  const opened: Side[] = [];
  try {
    const open = async (world: World, sample: Sample) => {
      // Every endpoint answers, so that nothing is tried again while something else is measured.
      await world.db.pool.query("UPDATE webhook_endpoint SET url = $1", [`${receiver.url}/hook`]);
      const side = await openSide(world, sample);
      opened.push(side);
      return side;
    };
    const sides = { small: await open(worlds.small, samples.small), large: await open(worlds.large, samples.large) };
    for (const side of opened) for (const { name, run } of side.app.jobs) if (name !== counting) await run(never);
    await compareOneChange(sides);
    await comparePurge(sides);
    await compareSweeps(sides);
  } finally {
    for (const side of opened) await side.close();
    await receiver.stop();
  }
}

async function openSide(world: World, sample: Sample): Promise<Side> {
  const config = readConfig({ NODE_ENV: "development", WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", DEMO_WORLD: "false" });
  const shares = openShares({ url: world.url, poolSize: 20, role: "all" });
  const clock = { now: await findStart(world, config.auditDays) };
  const log = makeLog({ level: "error", format: "json" });
  const app = await makeApp(config, { clock: () => new Date(clock.now), log, shares });
  return {
    ...world,
    app,
    clock,
    left: [...sample.changed],
    async close() {
      app.endWaits();
      await app.close();
      await shares.close();
    },
  };
}

/** Now, or later where an earlier run swept all that is too old by now. */
async function findStart({ db }: World, auditDays: number): Promise<Date> {
  const { rows } = await db.pool.query<{ at: Date | null }>("SELECT min(at) AS at FROM audit");
  return new Date(Math.max(Date.now(), (rows[0]!.at?.getTime() ?? 0) + auditDays * dayMs));
}

const jobOf = ({ app }: Side, name: string) => {
  const job = app.jobs.find((one) => one.name === name);
  if (job === undefined) throw new Error(`there is no job ${name}`);
  return () => job.run(never);
};

/** Errors: throws when all people of the sample are changed. */
function take({ left }: Side, count: number): PersonId[] {
  if (left.length < count) throw new Error("too few people for so many rounds");
  return left.splice(0, count);
}

const inBoth = <T>({ small, large }: Sides<Side>, work: (side: Side) => T): Sides<T> => ({
  small: work(small),
  large: work(large),
});

async function rename({ db }: Side, personId: PersonId): Promise<void> {
  const name = { firstFull: "Ada Marie", firstCall: "Ada", last: `Muster-${String(Math.random()).slice(2)}` };
  await changeDirectory(db, { at: new Date(), actorId: "bench" }, (change) => updatePerson(change, { personId, name }));
}

const timed = async (work: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

async function compareOneChange(sides: Sides<Side>): Promise<void> {
  const compareChange = (title: string, work: (side: Side) => Work) => compareCost(title, inBoth(sides, work), changes);
  await compareChange("a change of a person that five apps see, until committed", (side) => {
    return async () => rename(side, take(side, 1)[0]!);
  });
  for (const side of [sides.small, sides.large]) await tell(side);
  await compareChange("fan-out of its events", (side) => async () => {
    await rename(side, take(side, 1)[0]!);
    return timed(jobOf(side, "webhooks.fanOut"));
  });
  for (const side of [sides.small, sides.large]) await tell(side);
  await compareChange("delivery of its webhooks", (side) => async () => {
    await rename(side, take(side, 1)[0]!);
    await jobOf(side, "webhooks.fanOut")();
    return timed(jobOf(side, "webhooks.deliver"));
  });
}

/** Tells all apps of the changes so far. */
async function tell(side: Side): Promise<void> {
  await jobOf(side, "webhooks.fanOut")();
  await jobOf(side, "webhooks.deliver")();
}

async function comparePurge(sides: Sides<Side>): Promise<void> {
  await compareCost(
    "deletion of a person whose restore window is over",
    inBoth(sides, (side) => async () => {
      const [personId] = take(side, 1) as [PersonId];
      await changeDirectory(side.db, { at: side.clock.now, actorId: "bench" }, (change) =>
        softDeletePerson(change, { personId, restoreWindowDays: 0 }),
      );
      return timed(jobOf(side, "directory.purgePeople"));
    }),
    deletions,
  );
}

/**
 * Each job after a step in time that makes as many rows too old in either world, of whose rows so many come in a day as
 * it has people. Every job begins at the same time, so that what others went on does not empty the small world.
 */
async function compareSweeps(sides: Sides<Side>): Promise<void> {
  const step = (side: Side): void => {
    side.clock.now = new Date(side.clock.now.getTime() + (hourMs * sides.small.people) / side.people);
  };
  const start = inBoth(sides, ({ clock }) => clock.now);
  const names = sides.small.app.jobs.map(({ name }) => name).filter((name) => !notSweeps.has(name));
  for (const name of names) {
    sides.small.clock.now = start.small;
    sides.large.clock.now = start.large;
    await compareCost(
      `job \`${name}\``,
      inBoth(sides, (side) => async () => {
        step(side);
        if (name === "sign-on.sweepExpired") await addExpired(side);
        return timed(jobOf(side, name));
      }),
      runs,
    );
  }
}

async function addExpired({ db, clock }: Side): Promise<void> {
  const run = createHash("sha256").update(String(performance.now())).digest("hex");
  await db.pool.query(
    `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, expires_at)
     SELECT 'Interaction', sha256(convert_to($1 || n, 'UTF8')), '{}', 'app-00', $2 FROM generate_series(1, $3::int) n`,
    [run, new Date(clock.now.getTime() - hourMs), expired],
  );
}
