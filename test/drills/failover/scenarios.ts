import { setTimeout as sleep } from "node:timers/promises";
import {
  findPostmaster,
  findPrimary,
  hasSynchronousReplica,
  listRoles,
  signalNode,
  startNode,
  type Cluster,
  type NodeName,
} from "../../../deploy/postgres/cluster.ts";
import { until } from "../../../deploy/postgres/processes.ts";
import type { Relay } from "./relay.ts";

type Place = { cluster: Cluster; relays: Record<NodeName, Relay> };

/** How the primary is lost, and what makes its machine whole again afterwards. */
export type Scenario = {
  name: string;
  lose(place: Place, node: NodeName): void;
  repair(place: Place, node: NodeName): void | Promise<void>;
};

export const scenarios: readonly Scenario[] = [
  {
    name: "killed (-9)",
    lose: ({ cluster }, node) => signalNode(cluster, node, "SIGKILL"),
    repair: async ({ cluster }, node) => {
      await until("PostgreSQL is gone", 30, () => findPostmaster(cluster, node) === null);
      startNode(cluster, node);
    },
  },
  {
    name: "frozen (SIGSTOP)",
    lose: ({ cluster }, node) => signalNode(cluster, node, "SIGSTOP"),
    repair: ({ cluster }, node) => signalNode(cluster, node, "SIGCONT"),
  },
  {
    name: "cut off",
    lose: ({ relays }, node) => relays[node].cut(),
    repair: ({ relays }, node) => relays[node].heal(),
  },
];

/** Resolves when there are one primary and two replicas, one of them synchronous. */
export const waitUntilWhole = (cluster: Cluster): Promise<void> =>
  until("one primary, two replicas", 180, async () => {
    const roles = await listRoles(cluster);
    const has = (role: string) => roles.filter((one) => one === role).length;
    return has("primary") === 1 && has("replica") === 2 && (await hasSynchronousReplica(cluster));
  });

/**
 * Watches the former primary after its machine is back. Answers whether Patroni, which HAProxy asks, called two nodes
 * primary, or the former one.
 */
export async function watchFormer(cluster: Cluster, former: NodeName, seconds: number): Promise<string[]> {
  const faults = new Set<string>();
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const roles = await listRoles(cluster);
    if (roles.filter((role) => role === "primary").length > 1) faults.add("two nodes are called primary");
    if ((await findPrimary(cluster)) === former) faults.add(`${former} is primary again`);
    await sleep(100);
  }
  return [...faults];
}
