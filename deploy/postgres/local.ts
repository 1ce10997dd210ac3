// Three nodes of PostgreSQL with Patroni, etcd, HAProxy and PgBouncer on this machine, to try them out.
//   node deploy/postgres/local.ts start|status|stop [folder]
import { join } from "node:path";
import { findPrimary, listRoles, readCluster, startCluster, stopCluster, type Cluster } from "./cluster.ts";

const [command = "", folder = join(import.meta.dirname, "../../.data/cluster")] = process.argv.slice(2);
const say = (line: string) => void process.stdout.write(`${line}\n`);

function tell({ urls, folder: files }: Cluster): void {
  say(`Files and logs: ${files}`);
  say(`DATABASE_URL=${urls.primary}`);
  say(`DATABASE_REPLICA_URL=${urls.replica}`);
  say("By PgBouncer:");
  say(`DATABASE_URL=${urls.pooledPrimary}`);
  say(`DATABASE_REPLICA_URL=${urls.pooledReplica}`);
}

async function run(): Promise<number> {
  if (command === "start") {
    tell(await startCluster({ folder, say: (part) => say(`Starting ${part}`) }));
    return 0;
  }
  const cluster = readCluster(folder);
  if (cluster === null || !["status", "stop"].includes(command)) {
    say(cluster === null && command !== "" ? `No cluster was started in ${folder}.` : "start, status or stop?");
    return 2;
  }
  if (command === "stop") {
    await stopCluster(cluster, { removeFiles: true });
    say("Stopped, and its files are removed.");
    return 0;
  }
  const roles = await listRoles(cluster);
  Object.keys(cluster.nodes).forEach((name, index) => say(`${name}: ${roles[index]}`));
  tell(cluster);
  return (await findPrimary(cluster)) === null ? 1 : 0;
}

process.exitCode = await run();
