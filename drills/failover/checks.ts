import { until } from "../../deploy/postgres/processes.ts";
import { openDatabase } from "../../src/platform/db.ts";
import { countAnswered, type Ledger } from "./load.ts";
import type { World } from "./world.ts";

export type Finding = { claim: string; faults: string[]; of: number };

type Given = {
  url: string;
  world: World;
  ledger: Ledger;
  arrived: ReadonlyMap<string, string>;
};

/** Compares what was acknowledged with what the primary knows now, and what was sent with what arrived. */
export async function check(given: Given): Promise<Finding[]> {
  const { ledger } = given;
  return [
    await findLostChanges(given),
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
