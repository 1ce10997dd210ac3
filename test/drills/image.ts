/**
 * npm run drill -- image [--pull] [--keep]
 *
 * Builds deploy/Containerfile with buildah, runs it without root and on a read-only file system, and signs somebody in.
 * Where no registry of images can be reached, its two base images are made of Debian's packages and of the Node of this
 * checkout; --pull takes them from their registry. Needs root, buildah and debootstrap. --keep leaves the images.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openBenchDatabase } from "../../bench/database.ts";
import { makeMakers } from "../support/make.ts";
import { exchange, giveLogin, signOn } from "../support/token.ts";
import { findPort } from "../support/find-port.ts";
import { startRelay } from "./faults/relay.ts";
import { build, makeBases, makeBuildah, withFiles } from "./image/build.ts";

const { values: options } = parseArgs({
  options: { pull: { type: "boolean", default: false }, keep: { type: "boolean", default: false } },
});

type Place = { files: string; env: Record<string, string> };

// As a container has it: files that nobody can write, a /tmp of its own, and no rights of root.
const isolate = `
  mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t tmpfs tmpfs "$1/tmp" &&
  mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && files=$1 && shift &&
  exec chroot --userspec=10001:10001 "$files" "$@"`;

function start({ files, env }: Place, command: string): ChildProcess {
  const path = "PATH=/opt/schultor/node_modules/.bin:/usr/bin:/bin";
  const image = ["NODE_ENV=production", "METRICS_PORT=9464", path];
  const given = [...image, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const inside = ["env", "--ignore-environment", ...given, "bash", "-c", `cd /opt/schultor && exec ${command}`];
  const outside = ["--mount", "--pid", "--fork", "--kill-child", "bash", "-c", isolate, "isolate", files];
  return spawn("unshare", [...outside, ...inside], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Runs a command of the image to its end. Shape: whether it ended with 0. */
async function runs(place: Place, command: string): Promise<boolean> {
  const child = start(place, command);
  child.stdout!.resume();
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0;
}

/** Ends the program that unshare started, which would outlive unshare because it changed its account. */
function end({ pid, exitCode }: ChildProcess): void {
  if (exitCode !== null) return;
  const program = readFileSync(`/proc/${pid!}/task/${pid!}/children`, "utf8").trim();
  process.kill(Number(program), "SIGTERM");
}

/** Starts the service, works with it when it is ready, and stops it. */
async function withService(place: Place, work: () => Promise<void>): Promise<void> {
  const child = start(place, "node src/main.ts");
  const ended = once(child, "close");
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (/"msg":"ready"|Health +http/.test(output)) resolve();
    });
    void ended.then(() => reject(new Error(`the service ended:\n${output}`)));
  });
  try {
    await ready;
    await work();
  } finally {
    end(child);
    await ended;
  }
}

const containerfile = readFileSync(join(import.meta.dirname, "../../deploy/Containerfile"), "utf8");
const healthCheck = /HEALTHCHECK [^]*?"-e", \\\s*"([^"]+)"/.exec(containerfile)?.[1];
if (healthCheck === undefined) throw new Error("the Containerfile has no health check");

function check(what: string, isSo: boolean): void {
  console.log(`${isSo ? "ok" : "FAILED"}  ${what}`);
  if (!isSo) process.exitCode = 1;
}

const folder = mkdtempSync(join(tmpdir(), "schultor-image-"));
const buildah = makeBuildah(folder);
const database = await openBenchDatabase();
// The server takes only what this account sends it, over a socket that the image does not have.
const { searchParams } = new URL(database.url);
const relay = await startRelay(() => join(searchParams.get("host")!, ".s.PGSQL.5432"));
try {
  if (!options.pull) await makeBases(buildah);
  const bytes = await build(buildah, { folder, pull: options.pull });
  console.log(`The files of the image are ${(bytes / 1e6).toFixed(0)} MB.`);
  const [port, metricsPort] = [await findPort(), await findPort()];
  const key = Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7)).toString("base64");
  const env = {
    DATABASE_URL: `postgresql://schultor@127.0.0.1:${relay.port}/schultor`,
    ENCRYPTION_KEYS: key,
    HOST: "127.0.0.1",
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    WEB_CONCURRENCY: "1",
  };
  await withFiles(buildah, async (files) => {
    const place = { files, env: { ...env, ISSUER_URL: "https://login.example.org" } };
    check("it cannot write its own files", !(await runs(place, "touch /opt/schultor/src/new")));
    check("it can write /tmp", await runs(place, "touch /tmp/new"));
    check("it is nobody's account", await runs(place, "test $(id -u):$(id -g) = 10001:10001"));
    check("schultor migrate", await runs(place, "schultor migrate"));
    await withService(place, async () => {
      check(
        "the health check of the image, with the settings of production",
        await runs(place, `node -e '${healthCheck}'`),
      );
    });
    const url = `http://localhost:${port}`;
    await withService({ files, env: { ...env, NODE_ENV: "development", DEMO_WORLD: "false" } }, async () => {
      const make = makeMakers(database.db);
      const school = await make.school();
      const login = await giveLogin(database.db, await make.person({ school }));
      const app = await make.app();
      await make.grant({ app: app.clientId, school, signOn: "EVERYBODY" });
      const { status } = await exchange({ url }, app, await signOn({ url }, app, login));
      check("a person signs in to an app, with the settings of development", status === 200);
    });
  });
} finally {
  relay.close();
  await database.close();
  if (options.keep) console.log(`The images are in ${folder}/images.`);
  else {
    await buildah("rmi", "--all", "--force");
    rmSync(folder, { recursive: true, force: true });
  }
}
