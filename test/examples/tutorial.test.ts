import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { createClient, makeMemoryStore, makeSync } from "../../clients/typescript/src/index.ts";
import { fits, readSnippets } from "../docs/snippets.ts";
import { startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeRunningClock, type TestService } from "../support/service.ts";
import { passPages } from "../support/token.ts";
import { runIn } from "../support/typescript-client.ts";
import { present } from "./example.ts";
import { notifyApps, openTerminal, readFinished } from "./terminal.ts";

const root = join(import.meta.dirname, "../..");
const snippets = readSnippets("tutorial-typescript");
const fileOf = (name: string) =>
  `${snippets.flatMap(({ words, code }) => (words[0] === `file=${name}` ? [code] : [])).join("\n\n")}\n`;
const program = fileOf("app.ts");
const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
const project = join(folder, "my-typescript-app");
let service: TestService;

beforeAll(async () => {
  atFileEnd(() => rmSync(folder, { recursive: true }));
  // The app judges tokens and signatures by the real time.
  service = await startDemo({ clock: makeRunningClock() });
});

test("the tutorial and the example with Express are one program, which is valid strict TypeScript", async () => {
  expect(program).toBe(readFileSync(join(root, "examples/express/app.ts"), "utf8"));
  const { dependencies } = JSON.parse(readFileSync(join(root, "examples/express/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const registered = Object.entries(dependencies).filter(([name]) => !name.startsWith("@"));
  const packages = registered.map(([name, version]) => `${name}@${version.split(".")[0]!}`);
  expect(snippets.find(({ words }) => words[0] === "install")!.code).toBe(`npm install ${packages.join(" ")}`);
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--target",
    "es2024",
    "--module",
    "nodenext",
    "--skipLibCheck",
  ];
  const strict = ["--erasableSyntaxOnly", "--verbatimModuleSyntax", "--types", "node"];
  const example = join(root, "examples/express");
  const compiler = join(root, "node_modules/typescript-7/bin/tsc");
  await runIn(example, process.execPath, compiler, ...options, ...strict, "app.ts");
});

/** What the page installs from the registry. */
function installPackages(): void {
  for (const name of ["express", "jose", "openid-client"]) {
    const installed = join(project, "node_modules", name);
    if (!existsSync(installed)) symlinkSync(join(root, "node_modules", name), installed);
  }
}

test("its commands, one after the other, make an app that follows the sandbox and passes check-app", async () => {
  const terminal = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  const [make, login, register, start, play, count, check] = snippets.filter(({ words }) => words[0] === "step");
  await terminal.run(make!.code);
  installPackages();
  const finished = await readFinished(service, "tutorial-typescript");
  for (const name of ["app.ts", "count.ts"]) {
    const written = fileOf(name).replaceAll("http://localhost:3000", service.url);
    expect(finished.get(`my-app/${name}`)).toBe(written);
    writeFileSync(join(project, name), written);
  }
  // Without a login its first command fails, and the block goes no further.
  await expect(terminal.run(register!.code)).rejects.toThrow();
  expect(existsSync(join(project, "listen.log"))).toBe(false);
  expect(await terminal.run(login!.code)).toContain("OPERATOR");
  const accounts = await terminal.run(register!.code);
  await terminal.run(start!.code);

  const app = makeBrowser("http://127.0.0.1:4100");
  const platform = makeBrowser(service.url);
  const [, username, password] = /^PUPIL: (\S+) \/ (\S+)$/m.exec(accounts)!;
  const asked = await app.open("/login");
  const pupil = { username: username!, password: password! };
  const back = await passPages(platform, await platform.open(asked.url), pupil);
  expect((await app.open(back.url)).html).toMatch(/Hello .*!/);
  // The app is still reading its copy for the first time.
  await expect.poll(async () => (await app.open("/")).html).toMatch(/Hello .*! Groups: 5a/);

  // Other programs read the copy while the app writes.
  const reader = new DatabaseSync(join(project, "copy.db"), { readOnly: true });
  reader.exec("BEGIN; SELECT count(*) FROM sync_record");
  for (const step of ["JOIN", "MOVE", "LEAVE"]) expect(await terminal.run(play!.code)).toContain(`${step}: `);
  const wanted = await readEverything(await terminal.run("echo $CLIENT_SECRET"));
  await expect.poll(readCopy).toEqual(wanted);
  reader.close();
  const people = wanted.filter(({ type, status }) => type === "person" && status === "ACTIVE").length;
  expect(await terminal.run(count!.code)).toMatch(new RegExp(`'person' +│ 'ACTIVE' +│ ${people} `));

  const report = await terminal.run(check!.code);
  expect(fits(check!.output!, report) ? "as shown" : report).toBe("as shown");

  const another = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  await another.run(make!.code);
  installPackages();
  expect(await another.run(register!.code)).toBe(accounts);
  await another.run(start!.code);
});

/** Everything that the app sees now, as somebody who has just begun reads it. */
async function readEverything(clientSecret: string) {
  const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
  const client = createClient({ issuer: service.url, clientId: "my-typescript-app", clientSecret, scopes });
  const store = makeMemoryStore();
  await makeSync({ client, store }).follow();
  return present([store.school, store.group, store.person].flatMap((records) => [...records.values()]));
}

async function readCopy() {
  await notifyApps(service);
  const database = new DatabaseSync(join(project, "copy.db"), { readOnly: true });
  try {
    const rows = database.prepare("SELECT body FROM sync_record").all() as { body: string }[];
    return present(rows.map(({ body }): unknown => JSON.parse(body)));
  } finally {
    database.close();
  }
}
