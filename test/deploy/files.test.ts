// @module-tag slow
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { options } from "../../src/config/index.ts";
import {
  makeMetrics,
  watchImports,
  watchJobs,
  watchMachineClock,
  watchPools,
  watchProcess,
  watchProcesses,
  watchReplica,
} from "../../src/platform/telemetry/metrics.ts";
import { watchSurroundings } from "../../src/platform/telemetry/watch-surroundings.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "deploy");
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const paths = globSync("**/*", { cwd: folder, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

test("every YAML and JSON file can be read", () => {
  const described = paths.filter((path) => /\.(ya?ml|json)$/.test(path));
  expect(described.length).toBeGreaterThan(3);
  for (const path of described)
    expect(parse(read(path), { merge: true, maxAliasCount: -1 }), path).toBeInstanceOf(Object);
});

/** Of PostgreSQL and its image, of systemd, and of the command line. */
const ofOthers = new Set([
  ...["POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "CURRENT_USER"],
  ...["AF_INET", "AF_UNIX", "SCHULTOR_CLIENT_SECRET"],
]);

/** The files of the cluster have variables of their own. */
const ofCluster = (path: string) => path.startsWith("postgres/");

test("every variable that a file of the cluster names has a value in its sample", () => {
  const sample = [...read("postgres/node.env.example").matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name!);
  const named = ["etcd.yml", "patroni.yml", "haproxy.cfg", "pgbouncer.ini"].flatMap((file) =>
    [...read(`postgres/${file}`).matchAll(/\$\{([A-Z0-9_]+)\}/g)].map(([, name]) => name!),
  );
  expect(sample.toSorted()).toEqual([...new Set([...named, ...sample])].toSorted());
  expect(sample.filter((name) => !named.includes(name))).toEqual([]);
});

test("every variable that a file names is an option of the service", () => {
  const named = paths
    .filter((path) => !ofCluster(path))
    .flatMap((path) =>
      [...read(path).matchAll(/(?<![\w$])[A-Z]{2,}(?:_[A-Z]+)+(?![\w])/g)].map(([name]) => ({ path, name })),
    );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !(name in options) && !ofOthers.has(name))).toEqual([]);
  const units = paths.filter((path) => path.endsWith(".service"));
  const set = units.flatMap((path) =>
    [...read(path).matchAll(/^Environment=(.*)$/gm)].flatMap(([, all]) => all!.split(" ")),
  );
  expect(set.map((pair) => pair.split("=")[0]!).filter((name) => !(name in options))).toEqual([]);
});

type Compose = { services: Record<string, { environment?: Record<string, string>; stop_grace_period?: string }> };

test("the variables of the containers are options of the service", () => {
  const { services } = parse(read("compose.yaml"), { merge: true }) as Compose;
  for (const name of ["migrate", "web", "worker"]) {
    const given = Object.keys(services[name]?.environment ?? {});
    expect(given, name).toContain("DATABASE_URL");
    expect(
      given.filter((option) => !(option in options)),
      name,
    ).toEqual([]);
  }
  expect([services["web"]?.environment?.["ROLE"], services["worker"]?.environment?.["ROLE"]]).toEqual([
    "web",
    "worker",
  ]);
});

test("containers and units get more time to stop than the service takes", () => {
  const graceSeconds = Number(options.SHUTDOWN_GRACE_SECONDS.default);
  const { services } = parse(read("compose.yaml"), { merge: true }) as Compose;
  for (const role of ["web", "worker"]) {
    expect(parseInt(services[role]?.stop_grace_period ?? "", 10)).toBeGreaterThan(graceSeconds);
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(read(`systemd/schultor-${role}.service`)) ?? [];
    expect(Number(seconds)).toBeGreaterThan(graceSeconds);
  }
});

test("every path that the image copies or a unit runs exists", () => {
  const copied = [...read("Containerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from]) =>
    from!.split(" "),
  );
  const units = paths.filter((path) => path.endsWith(".service")).map(read);
  const run = units.flatMap((unit) =>
    [...unit.matchAll(/^ExecStart=\/opt\/schultor\/(\S+) (?:--\S+ )?(\S+)/gm)].flatMap(([, program, file]) => [
      program!,
      file!,
    ]),
  );
  expect(run).toHaveLength(6);
  const pages = units.flatMap((unit) => [...unit.matchAll(/file:\/opt\/schultor\/(\S+)/g)].map(([, path]) => path!));
  expect([...copied, ...run, ...pages].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const sent = [...read("Containerfile.dockerignore").matchAll(/^!(\S+)$/gm)].map(([, path]) => path!);
  expect(sent.toSorted()).toEqual([...new Set(copied)].toSorted());
});

test("every file that the pages for operators name exists", () => {
  for (const page of ["SECURITY.md", "CHANGELOG.md", "deploy/README.md", "deploy/RUNBOOK.md"]) {
    const text = readFileSync(join(root, page), "utf8");
    const named = [...text.matchAll(/`((?:src|test|openapi|deploy)\/[^` ]+)`/g)].map(([, path]) => path!);
    const linked = [...text.matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, path]) => join(dirname(page), path!));
    expect(named.length + linked.length, page).toBeGreaterThan(0);
    expect(
      [...named, ...linked].filter((path) => path !== "deploy/.env" && !existsSync(join(root, path))),
      page,
    ).toEqual([]);
  }
});

/** Metrics and their labels as a reader of Prometheus meets them. */
async function describeMetrics(): Promise<{ names: Set<string>; labels: Set<string> }> {
  const metrics = makeMetrics();
  watchProcess(metrics);
  watchPools(metrics, {});
  watchReplica(metrics, { ageSeconds: () => 0, taken: { replica: 0, primary: 0 } });
  watchMachineClock(metrics, () => 0);
  watchJobs(metrics, []);
  watchImports(metrics, () => ({ running: 0, waiting: 0 }));
  watchProcesses(metrics.registry, { roles: ["web"], count: () => 1 });
  watchSurroundings(metrics, {
    clock: () => new Date(),
    database: { name: "database", missing: "", check: async () => undefined },
    findBackupAge: async () => 0,
    databaseFolder: folder,
    // No certificate is served there.
    issuerUrl: "https://127.0.0.1:1",
  });
  // Prometheus has the first two of itself, node_exporter the others.
  const ofOthers = ["up", "ALERTS", "node_filesystem_avail_bytes", "node_filesystem_size_bytes"];
  const names = new Set(ofOthers);
  for (const { name, type } of await metrics.registry.getMetricsAsJSON()) {
    const isHistogram = String(type) === "histogram";
    for (const end of isHistogram ? ["_bucket", "_count", "_sum"] : [""]) names.add(name + end);
  }
  const exported = metrics.registry.getMetricsAsArray() as unknown as { labelNames?: string[] }[];
  // A label `job` of ours gives way to that of Prometheus.
  const renamed = exported
    .flatMap(({ labelNames = [] }) => labelNames)
    .map((label) => (label === "job" ? "exported_job" : label));
  const labelsOfOthers = ["job", "instance", "le", "alertname", "alertstate", "fstype"];
  return { names, labels: new Set([...renamed, ...labelsOfOthers]) };
}

const words = (text: string) => [...text.matchAll(/[A-Za-z_]\w*/g)].map(([word]) => word);

/** What a query of Prometheus names. */
function readQuery(query: string): { metrics: string[]; labels: string[] } {
  const matchers = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside]) =>
    words(inside!.replaceAll(/"[^"]*"/g, "")),
  );
  const groups = [...query.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, inside]) =>
    words(inside!),
  );
  const rest = query
    .replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, "")
    .replaceAll(/\b(?:and|or|unless)\b|\b\w+\s*(?=\()/g, "")
    .replaceAll(/\b[\d.]+\b/g, "");
  return { metrics: words(rest), labels: [...matchers, ...groups] };
}

type Alerts = { groups: { rules: { alert: string; expr: string }[] }[] };
type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] };

test("alerts and dashboard name only metrics and labels that the service exports", async () => {
  const alerts = (parse(read("prometheus/alerts.yml")) as Alerts).groups.flatMap(({ rules }) => rules);
  const { panels } = JSON.parse(read("grafana/schultor.json")) as Dashboard;
  const queries = [
    ...alerts.map(({ alert, expr }) => ({ at: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ at: title, expr }))),
  ];
  expect(queries.length).toBeGreaterThan(20);
  const { names, labels } = await describeMetrics();
  const unknown = queries.flatMap(({ at, expr }) => {
    const named = readQuery(expr);
    expect(named.metrics.length, at).toBeGreaterThan(0);
    const strange = [
      ...named.metrics.filter((name) => !names.has(name)),
      ...named.labels.filter((l) => !labels.has(l)),
    ];
    return strange.map((name) => `${at}: ${name}`);
  });
  expect(unknown).toEqual([]);
});
