import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { createClient, makeMemoryStore, makeSync } from "../../clients/typescript/src/index.ts";
import { fits, readSnippets } from "../docs/snippets.ts";
import { startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeTestClock, type TestService } from "../support/service.ts";
import { passPages } from "../support/token.ts";
import { runIn } from "../support/typescript-client.ts";
import { findPort } from "../support/find-port.ts";
import { present } from "./example.ts";
import { notifyApps, openTerminal } from "./terminal.ts";

const root = join(import.meta.dirname, "../..");
const snippets = readSnippets("tutorial-typescript");
const fileOf = (name: string) =>
  `${snippets.flatMap(({ words, code }) => (words[0] === `file=${name}` ? [code] : [])).join("\n\n")}\n`;
const program = fileOf("app.ts");
const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
const project = join(folder, "my-app");
let service: TestService;

beforeAll(async () => {
  atFileEnd(() => rmSync(folder, { recursive: true }));
  // The app judges tokens and signatures by the real time.
  service = await startDemo({ clock: makeTestClock(new Date()), env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  for (const name of ["express", "jose", "openid-client", "@types"]) link(join(root, "node_modules", name), name);
  link(join(root, "clients/typescript"), "@schultor/client");
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  for (const name of ["app.ts", "count.ts"])
    writeFileSync(join(project, name), fileOf(name).replaceAll("http://localhost:3000", service.url));
});

/** Puts a package where `npm install` does. */
function link(target: string, name: string): void {
  const path = join(project, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

test("the tutorial and the example with Express are one program, which is valid strict TypeScript", async () => {
  expect(program).toBe(readFileSync(join(root, "examples/express/app.ts"), "utf8"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "examples/express/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const install = snippets.find(({ words }) => words[0] === "install")!.code;
  for (const [name, version] of Object.entries(dependencies))
    expect(install).toContain(name.startsWith("@") ? "/schultor-client-" : `${name}@${version.split(".")[0]!}`);
  const options = ["--noEmit", "--strict", "--target", "es2024", "--module", "nodenext", "--skipLibCheck"];
  const strict = ["--erasableSyntaxOnly", "--verbatimModuleSyntax", "--types", "node"];
  await runIn(project, join(root, "node_modules/.bin/tsc"), ...options, ...strict, "app.ts");
});

test("its commands, one after the other, make an app that follows the sandbox and passes check-app", async () => {
  const ports = { 4100: await findPort(), 4499: await findPort() };
  const terminal = openTerminal(service, folder, ports);
  const [register, start, play, count, check] = snippets.filter(({ words }) => words[0]?.startsWith("step"));
  const accounts = await terminal.run(register!.code);
  await terminal.run('cd "$HOME/my-app"');
  await terminal.run(`${start!.code}\ncurl -s -o /dev/null --retry 60 --retry-delay 1 --retry-connrefused $app`);

  const app = makeBrowser(`http://127.0.0.1:${ports[4100]}`);
  const platform = makeBrowser(service.url);
  const [, username, password] = /^PUPIL: (\S+) \/ (\S+)$/m.exec(accounts)!;
  const asked = await app.open("/login");
  const login = { username: username!, password: password! };
  const back = await passPages(platform, await platform.open(asked.url), login);
  expect((await app.open(back.url)).html).toMatch(/Hello .*! Groups: 5a/);

  // Other programs read the copy while the app writes.
  const reader = new DatabaseSync(join(project, "copy.db"), { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM sync_record");
  await terminal.run(play!.code);
  const wanted = await readEverything(await terminal.run("echo $CLIENT_SECRET"));
  expect(wanted.length).toBeGreaterThan(1000);
  await expect.poll(readCopy).toEqual(wanted);
  reader.close();
  const people = wanted.filter(({ type }) => type === "person").length;
  expect(await terminal.run(count!.code)).toMatch(new RegExp(`'person' +│ 'ACTIVE' +│ ${people} `));

  const report = await terminal.run(check!.code);
  expect(fits(check!.output!, report) ? "as shown" : report).toBe("as shown");
});

/** Those who may come back are left out: what is kept of them is what was read before. */
const presentCurrent = (records: readonly unknown[]) =>
  present(records).filter(({ status }) => status !== "SOFT_DELETED");

/** Everything that the app sees now, as somebody who has just begun reads it. */
async function readEverything(clientSecret: string) {
  const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
  const client = createClient({ issuer: service.url, clientId: "my-app", clientSecret, scopes });
  const store = makeMemoryStore();
  await makeSync({ client, store }).follow();
  return presentCurrent([store.school, store.group, store.person].flatMap((records) => [...records.values()]));
}

async function readCopy() {
  await notifyApps(service);
  const database = new DatabaseSync(join(project, "copy.db"), { readOnly: true });
  try {
    const rows = database.prepare("SELECT body FROM sync_record").all() as { body: string }[];
    return presentCurrent(rows.map(({ body }): unknown => JSON.parse(body)));
  } finally {
    database.close();
  }
}
