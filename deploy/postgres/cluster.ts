import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import pg from "pg";
import { findAccount, giveTo, type Account } from "./account.ts";
import { endProcesses, isRunning, signal, startProcess, until } from "./processes.ts";
import { fillIn } from "./templates.ts";

const address = "127.0.0.1";
const nodeNames = ["n1", "n2", "n3"] as const;
export type NodeName = (typeof nodeNames)[number];

type Ports = { postgres: number; rest: number; etcdClient: number; etcdPeer: number };
/** By which ports the others reach a node, and by which it reaches etcd. */
type Reached = { postgres: number; rest: number; etcd: readonly number[] };
type Node = { ports: Ports; reached: Reached; etcdPid: number; patroniPid: number };

/** What is running, as `cluster.json` in the folder has it. */
export type Cluster = {
  folder: string;
  account: Account;
  nodes: Record<NodeName, Node>;
  passwords: { superuser: string; replication: string; service: string };
  haproxyPid: number;
  pgbouncerPid: number;
  /** Connection strings for the service: by HAProxy, and by PgBouncer in front of it. */
  urls: { primary: string; replica: string; pooledPrimary: string; pooledReplica: string };
};

type Options = {
  folder: string;
  say(line: string): void;
  /** Answers the port by which a port of a node is reached instead: that of a relay. */
  reach?: (node: NodeName, port: number) => Promise<number>;
};

/** The programs, where Debian's packages put them. */
const programs = {
  etcd: "/usr/bin/etcd",
  patroni: "/usr/bin/patroni",
  haproxy: "/usr/sbin/haproxy",
  pgbouncer: "/usr/sbin/pgbouncer",
};
const packages = {
  etcd: "etcd-server",
  patroni: "patroni",
  haproxy: "haproxy",
  pgbouncer: "pgbouncer",
  postgres: "postgresql-15",
};
const newestFirst = [18, 17, 16, 15];

/** Debian's packages that are missing on this machine. */
export function listMissingPackages(): string[] {
  const missing = (Object.keys(programs) as (keyof typeof programs)[]).filter((name) => !existsSync(programs[name]));
  return [...missing.map((name) => packages[name]), ...(findBin() === undefined ? [packages.postgres] : [])];
}

const findBin = (): string | undefined =>
  newestFirst.map((version) => `/usr/lib/postgresql/${version}/bin`).find((bin) => existsSync(join(bin, "postgres")));

/** Starts three nodes, HAProxy and PgBouncer on this machine; resolves when the primary has a synchronous replica. */
export async function startCluster({
  folder: given,
  say,
  reach = async (_node, port) => port,
}: Options): Promise<Cluster> {
  const missing = listMissingPackages();
  if (missing.length > 0) throw new Error(`Missing: apt-get install ${missing.join(" ")}`);
  const folder = resolve(given);
  if (existsSync(join(folder, stateFile))) throw new Error(`${folder} has a cluster already. Stop it first.`);
  const account = findAccount();
  const cluster = await layOut(folder, account, reach);
  try {
    say("etcd");
    for (const name of nodeNames) startEtcd(cluster, name);
    save(cluster);
    // Patroni ends when it meets an etcd that does not know its version yet.
    await until("etcd has a leader", 60, () => isEtcdReady(cluster));
    say("Patroni, PostgreSQL");
    for (const name of nodeNames) startNode(cluster, name);
    say("HAProxy, PgBouncer");
    startProxies(cluster);
    save(cluster);
    await until("a primary and two replicas", 120, async () => {
      const roles = await listRoles(cluster);
      return (
        roles.filter((role) => role === "primary").length === 1 &&
        roles.filter((role) => role === "replica").length === 2
      );
    });
    await makeDatabase(cluster);
    await until("a synchronous replica", 60, () => hasSynchronousReplica(cluster));
    return cluster;
  } catch (error) {
    await stopCluster(cluster);
    throw error;
  }
}

const stateFile = "cluster.json";

/** The cluster of a folder; null where none was started. */
export function readCluster(folder: string): Cluster | null {
  const file = join(resolve(folder), stateFile);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Cluster) : null;
}

function save(cluster: Cluster): void {
  writeFileSync(join(cluster.folder, stateFile), JSON.stringify(cluster, null, 2), { mode: 0o600 });
}

async function layOut(folder: string, account: Account, reach: NonNullable<Options["reach"]>): Promise<Cluster> {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  const [primary, replica, statistics, pooled, ...others] = await findPorts(4 + 4 * nodeNames.length);
  const ports = nodeNames.map((_, index): Ports => {
    const [postgres, rest, etcdClient, etcdPeer] = others.slice(4 * index, 4 * index + 4);
    return { postgres: postgres!, rest: rest!, etcdClient: etcdClient!, etcdPeer: etcdPeer! };
  });
  const nodes = {} as Record<NodeName, Node>;
  for (const [index, name] of nodeNames.entries()) {
    const own = ports[index]!;
    const etcd = [];
    for (const { etcdClient } of ports) etcd.push(await reach(name, etcdClient));
    const reached = { postgres: await reach(name, own.postgres), rest: await reach(name, own.rest), etcd };
    nodes[name] = { ports: own, reached, etcdPid: 0, patroniPid: 0 };
  }
  const secret = () => randomBytes(16).toString("hex");
  const passwords = { superuser: secret(), replication: secret(), service: secret() };
  const url = (port: number, database: string) =>
    `postgresql://schultor:${passwords.service}@${address}:${port}/${database}`;
  const cluster: Cluster = {
    folder,
    account,
    nodes,
    passwords,
    haproxyPid: 0,
    pgbouncerPid: 0,
    urls: {
      primary: url(primary!, "schultor"),
      replica: url(replica!, "schultor"),
      pooledPrimary: url(pooled!, "schultor"),
      pooledReplica: url(pooled!, "schultor_replicas"),
    },
  };
  writeFiles(cluster, { primary: primary!, replica: replica!, statistics: statistics!, pooled: pooled! });
  return cluster;
}

async function findPorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.listen(0, address, done))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

type ProxyPorts = { primary: number; replica: number; statistics: number; pooled: number };

function writeFiles(cluster: Cluster, proxies: ProxyPorts): void {
  const { folder, account, passwords } = cluster;
  const put = (path: string, text: string) => {
    writeFileSync(path, text, { mode: 0o600 });
    giveTo(account, path);
  };
  const values = { ...valuesOfProxies(cluster, proxies) };
  for (const name of nodeNames) {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    giveTo(account, own);
    const all = { ...values, ...valuesOfNode(cluster, name) };
    for (const file of ["etcd.yml", "patroni.yml"]) put(join(own, file), fillIn(file, all));
  }
  const proxy = proxyFolder(folder);
  mkdirSync(proxy, { recursive: true, mode: 0o700 });
  giveTo(account, proxy);
  for (const file of ["haproxy.cfg", "pgbouncer.ini"]) put(join(proxy, file), fillIn(file, values));
  put(join(proxy, "userlist.txt"), `"schultor" "${passwords.service}"\n`);
}

const proxyFolder = (folder: string) => join(folder, "proxy");

function valuesOfNode({ folder, nodes, passwords }: Cluster, name: NodeName): Record<string, string> {
  const { ports, reached } = nodes[name];
  const at = (port: number) => `${address}:${port}`;
  return {
    NODE: name,
    NODE_ADDRESS: address,
    POSTGRES_PORT: String(ports.postgres),
    REST_PORT: String(ports.rest),
    POSTGRES_REACHED: at(reached.postgres),
    REST_REACHED: at(reached.rest),
    ETCD_HOSTS: reached.etcd.map(at).join(","),
    ETCD_NAME: name,
    ETCD_CLIENT_PORT: String(ports.etcdClient),
    ETCD_PEER_PORT: String(ports.etcdPeer),
    ETCD_MEMBERS: nodeNames.map((other) => `${other}=http://${at(nodes[other].ports.etcdPeer)}`).join(","),
    ETCD_DATA: join(folder, name, "etcd"),
    PG_BIN: findBin()!,
    PG_DATA: join(folder, name, "data"),
    // Not in the data folder: pg_rewind refuses the files of sockets.
    SOCKET_FOLDER: join(folder, name),
    CLIENT_NETWORK: `${address}/32`,
    SUPERUSER_PASSWORD: passwords.superuser,
    REPLICATION_PASSWORD: passwords.replication,
  };
}

function valuesOfProxies({ folder, nodes }: Cluster, ports: ProxyPorts): Record<string, string> {
  const ofNodes = nodeNames.flatMap((name) => [
    [`${name.toUpperCase()}_POSTGRES`, `${address}:${nodes[name].reached.postgres}`],
    [`${name.toUpperCase()}_REST_PORT`, String(nodes[name].reached.rest)],
  ]);
  return {
    ...(Object.fromEntries(ofNodes) as Record<string, string>),
    PRIMARY_BIND: `${address}:${ports.primary}`,
    REPLICA_BIND: `${address}:${ports.replica}`,
    STATISTICS_BIND: `${address}:${ports.statistics}`,
    PGBOUNCER_ADDRESS: address,
    PGBOUNCER_PORT: String(ports.pooled),
    PGBOUNCER_FILES: proxyFolder(folder),
    PRIMARY_HOST: address,
    PRIMARY_PORT: String(ports.primary),
    REPLICA_HOST: address,
    REPLICA_PORT: String(ports.replica),
  };
}

function startIn(cluster: Cluster, part: string, command: keyof typeof programs, args: string[]): number {
  const folder = join(cluster.folder, part);
  const log = join(folder, `${command}.log`);
  return startProcess({ command: programs[command], args, folder, log, account: cluster.account });
}

function startEtcd(cluster: Cluster, name: NodeName): void {
  cluster.nodes[name].etcdPid = startIn(cluster, name, "etcd", ["--config-file", "etcd.yml"]);
}

async function isEtcdReady({ nodes }: Cluster): Promise<boolean> {
  const versions = await Promise.all(
    nodeNames.map(async (name) => {
      const answer = await fetch(`http://${address}:${nodes[name].ports.etcdClient}/version`).catch(() => null);
      return answer === null ? "" : ((await answer.json()) as { etcdcluster: string }).etcdcluster;
    }),
  );
  return versions.every((version) => /^\d/.test(version));
}

/** Starts Patroni of a node, which starts its PostgreSQL; also after it was killed. */
export function startNode(cluster: Cluster, name: NodeName): void {
  cluster.nodes[name].patroniPid = startIn(cluster, name, "patroni", ["patroni.yml"]);
  save(cluster);
}

function startProxies(cluster: Cluster): void {
  cluster.haproxyPid = startIn(cluster, "proxy", "haproxy", ["-db", "-f", "haproxy.cfg"]);
  cluster.pgbouncerPid = startIn(cluster, "proxy", "pgbouncer", ["pgbouncer.ini"]);
}

export type Role = "primary" | "replica" | "other";

/** What Patroni of each node says, asked at its own port. */
export function listRoles({ nodes }: Cluster): Promise<Role[]> {
  return Promise.all(nodeNames.map((name) => askRole(nodes[name].ports.rest)));
}

async function askRole(port: number): Promise<Role> {
  const is = async (path: string) =>
    (await fetch(`http://${address}:${port}/${path}`, { method: "OPTIONS", signal: AbortSignal.timeout(1000) })).ok;
  try {
    return (await is("primary")) ? "primary" : (await is("replica")) ? "replica" : "other";
  } catch {
    return "other";
  }
}

export async function findPrimary(cluster: Cluster): Promise<NodeName | null> {
  const roles = await listRoles(cluster);
  return nodeNames.find((_, index) => roles[index] === "primary") ?? null;
}

/** Runs one statement as superuser on a node itself. */
export async function askNode<Row extends pg.QueryResultRow>(
  { nodes, passwords }: Cluster,
  name: NodeName,
  text: string,
  database = "postgres",
): Promise<Row[]> {
  const client = new pg.Client({
    host: address,
    port: nodes[name].ports.postgres,
    user: "postgres",
    password: passwords.superuser,
    database,
    connectionTimeoutMillis: 3000,
    query_timeout: 10_000,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function makeDatabase(cluster: Cluster): Promise<void> {
  const primary = (await findPrimary(cluster))!;
  await askNode(cluster, primary, `CREATE ROLE schultor LOGIN PASSWORD '${cluster.passwords.service}'`);
  await askNode(cluster, primary, "CREATE DATABASE schultor OWNER schultor");
}

export async function hasSynchronousReplica(cluster: Cluster): Promise<boolean> {
  const primary = await findPrimary(cluster);
  if (primary === null) return false;
  const asked = "SELECT count(*)::int AS replicas FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
  const [row] = await askNode<{ replicas: number }>(cluster, primary, asked).catch(() => []);
  return (row?.replicas ?? 0) > 0;
}

/** The postmaster of a node; null where none runs. */
export function findPostmaster({ folder }: Cluster, name: NodeName): number | null {
  const file = join(folder, name, "data", "postmaster.pid");
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  return isRunning(pid) ? pid : null;
}

/** Sends a signal to Patroni and every process of PostgreSQL of a node. */
export function signalNode(cluster: Cluster, name: NodeName, what: NodeJS.Signals): void {
  signal(cluster.nodes[name].patroniPid, what);
  const postmaster = findPostmaster(cluster, name);
  if (postmaster === null) return;
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ");
  for (const pid of [postmaster, ...children.filter(Boolean).map(Number)]) signal(pid, what);
}

/** Ends everything by its process id. */
export async function stopCluster(cluster: Cluster, options: { removeFiles?: boolean } = {}): Promise<void> {
  const running = (pids: (number | null)[]) =>
    pids.filter((pid): pid is number => pid !== null && pid > 0 && isRunning(pid));
  const { nodes, haproxyPid, pgbouncerPid } = cluster;
  for (const name of nodeNames) signalNode(cluster, name, "SIGCONT");
  await endProcesses(running([haproxyPid, pgbouncerPid]), "SIGKILL", 5);
  // Patroni ends its PostgreSQL. One without Patroni is told by itself.
  await Promise.all(
    nodeNames.map(async (name) => {
      await endProcesses(running([nodes[name].patroniPid]), "SIGTERM", 15);
      await endProcesses(running([findPostmaster(cluster, name)]), "SIGQUIT", 15);
    }),
  );
  await Promise.all(nodeNames.map((name) => endProcesses(running([nodes[name].etcdPid]), "SIGTERM", 10)));
  rmSync(join(cluster.folder, stateFile), { force: true });
  if (options.removeFiles) rmSync(cluster.folder, { recursive: true, force: true });
}
