import { until } from "../../deploy/postgres/processes.ts";
import { openDatabase } from "../../src/platform/db.ts";
import { countAnswered, exchangeOf, requestTokens, type Ledger } from "./load.ts";
import type { World } from "./world.ts";

export type Finding = { claim: string; faults: string[]; of: number };

type Given = {
  url: string;
  urls: readonly string[];
  world: World;
  ledger: Ledger;
  arrived: ReadonlyMap<string, string>;
};

/** Compares what was acknowledged with what the primary knows now, and what was sent with what arrived. */
export async function check(given: Given): Promise<Finding[]> {
  const { ledger } = given;
  return [
    await findLostChanges(given),
    await findReusableCodes(given),
    { claim: "no refresh family is broken", faults: ledger.broken, of: countAnswered(ledger, "refresh") },
    await findLostDeliveries(given),
  ];
}

async function findLostChanges({ url, ledger }: Given): Promise<Finding> {
  const db = openDatabase({ url });
  try {
    const ids = [...ledger.created, ...ledger.renamed.keys()];
    const kept = await db.prisma.person.findMany({ where: { id: { in: ids } }, select: { id: true, last: true } });
    const names = new Map(kept.map(({ id, last }) => [id, last]));
    const lost = ledger.created.filter((id) => !names.has(id));
    const old = [...ledger.renamed].filter(([id, { acknowledged, sent }]) => {
      const found = /^Name (\d+)$/.exec(names.get(id) ?? "");
      const number = found === null ? -1 : Number(found[1]);
      return number < acknowledged || number > sent;
    });
    return {
      claim: "no acknowledged change is lost",
      faults: [...lost, ...old.map(([id]) => id)],
      of: countAnswered(ledger, "change"),
    };
  } finally {
    await db.close();
  }
}

/** Last, because a code that is used twice ends what its first use gave. */
async function findReusableCodes({ urls, world, ledger }: Given): Promise<Finding> {
  const faults = [];
  for (const used of ledger.usedCodes.slice(-200)) {
    const again = await requestTokens(urls[0]!, world.app, exchangeOf(world.app, used)).catch(() => null);
    if (again !== null) faults.push(used.code.slice(0, 6));
  }
  return { claim: "no code is used twice", faults, of: Math.min(200, ledger.usedCodes.length) };
}

async function findLostDeliveries({ url, world, arrived }: Given): Promise<Finding> {
  const db = openDatabase({ url });
  try {
    const isSettled = async () => (await db.prisma.webhookDelivery.count({ where: { state: "PENDING" } })) === 0;
    await until("webhooks are delivered", 90, isSettled).catch(() => undefined);
    const events = await db.prisma.appEvent.findMany({
      where: { clientId: world.app.clientId, at: { gte: world.startedAt } },
      select: { id: true },
    });
    return {
      claim: "no delivery is lost",
      faults: events.map(({ id }) => id).filter((id) => !arrived.has(id)),
      of: events.length,
    };
  } finally {
    await db.close();
  }
}
