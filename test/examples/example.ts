import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import { createClient, makeMemoryStore, makeSync } from "../../clients/typescript/src/index.ts";
import { compileCache } from "../support/compile-cache.ts";
import { atFileEnd } from "../support/file-end.ts";

const root = join(import.meta.dirname, "../..");

/** A record of a copy, without what the examples keep in different ways. */
export type Shown = { type: string; id: string; name: unknown; role?: string; groups?: string[]; status?: string };

export type Example = {
  name: string;
  /** Its programs: the one that answers requests, and what runs beside it. */
  commands: (port: number) => [program: string, ...args: string[]][];
  /** The records in the file of its copy; throws while there is none. */
  read(file: string): unknown[];
};

/** The records of a SQLite file that has them as JSON. */
const readSqlite = (table: string) => (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare(`SELECT body FROM ${table}`).all() as { body: string }[];
    return rows.map(({ body }): unknown => JSON.parse(body));
  } finally {
    database.close();
  }
};

export const examples: Example[] = [
  { name: "express", commands: () => [["node", "app.ts"]], read: readSqlite("sync_record") },
  { name: "python", commands: () => [["/usr/bin/python3", "app.py"]], read: readSqlite("record") },
  {
    name: "php",
    commands: (port) => [
      ["/usr/bin/php", "-S", `127.0.0.1:${port}`, "app.php"],
      ["/usr/bin/php", "follow.php"],
    ],
    read: (file) => Object.values((JSON.parse(readFileSync(file, "utf8")) as { records: object }).records),
  },
  { name: "hono", commands: () => [["node", "app.js"]], read: readSqlite("sync_record") },
];

export type Running = { url: string; output(): string; stop(): Promise<void> };

/** Starts the programs of an example and waits until it answers; they end with the test file. */
export async function startExample(
  { name, commands }: Example,
  port: number,
  settings: Record<string, string>,
): Promise<Running> {
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const env = { PATH: path, NODE_COMPILE_CACHE: compileCache, PORT: String(port), ...settings };
  let written = "";
  const children = commands(port).map(([program, ...args]) => {
    const child = spawn(program, args, {
      cwd: join(root, "examples", name),
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.once("error", (error) => (written += error.message));
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => (written += text.toString()));
    return { child, ended: new Promise((resolve) => child.once("close", resolve)) };
  });
  const stop = async () => {
    for (const { child } of children) child.kill();
    await Promise.all(children.map(({ ended }) => ended));
  };
  atFileEnd(stop);
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      ({ status }) => status,
      () => written,
    );
  await expect.poll(answers).toBe(200);
  return { url, output: () => written, stop };
}

/** What a copy has in common with others, in one order. */
export const present = (records: readonly unknown[]): Shown[] =>
  (records as Shown[])
    .map(({ type, id, name, role, groups, status }) => ({
      type,
      id,
      name,
      ...(type === "person" && { role: role!, status: status!, groups: groups!.toSorted() }),
    }))
    .sort((a, b) => `${a.type} ${a.id}`.localeCompare(`${b.type} ${b.id}`));

type Credentials = { issuer: string; clientId: string; clientSecret: string };

export const makeAppClient = (credentials: Credentials) => {
  const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
  return createClient({ ...credentials, scopes });
};

/** Everything that an app sees now, as somebody who has just begun reads it. */
async function readEverything(credentials: Credentials): Promise<Shown[]> {
  const store = makeMemoryStore();
  await makeSync({ client: makeAppClient(credentials), store }).follow();
  return present([store.school, store.group, store.person].flatMap((records) => [...records.values()]));
}

type Copying = { example: Example; file: string; output(): string };

/** Waits until the copy of an example is what its app sees now, and answers with that. */
export async function expectCopy({ example, file, output }: Copying, credentials: Credentials): Promise<Shown[]> {
  const wanted = await readEverything(credentials);
  const read = () => {
    try {
      return present(example.read(file));
    } catch (error) {
      return `${String(error)}\n${output()}`;
    }
  };
  await expect.poll(read).toEqual(wanted);
  return wanted;
}
