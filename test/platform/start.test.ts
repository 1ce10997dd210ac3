// @module-tag slow
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { makeBrowser } from "../support/browser.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startMain, startProgram } from "../support/program.ts";
import { expectReady } from "../support/ready.ts";
import { runHere } from "../cli/program.ts";
import { writeRoster } from "../imports/rosters.ts";

// What only processes show: how the service starts and stops, and what the command line leaves to a shell.

const db = await testDatabase();
const freshDb = await testDatabase();
const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

/** Types a command; `output` has both streams. */
async function run(args: string[], env: Record<string, string> = { DATABASE_URL: db.url }) {
  const program = startProgram(["src/schultor.ts", ...args], env);
  let [out, err] = ["", ""];
  program.child.stdout!.on("data", (text: string) => (out += text));
  program.child.stderr!.on("data", (text: string) => (err += text));
  const { code } = await program.ended;
  return { code, out, err };
}

const address = ["--street", "Schulweg 1", "--zip", "21680", "--city", "Stade", "--state", "NI"];
const createSchool = (officialId: string) => [
  ...["school", "create", "--name", "Deichschule", "--official-id", officialId, ...address],
];

test("the command line keeps what Node has compiled in the user's own folder, not in the shared one", async () => {
  const home = mkdtempSync(join(tmpdir(), "schultor-home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const shared = join(home, "tmp");
  mkdirSync(shared);
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: shared };
  await promisify(execFile)(process.execPath, ["bin/schultor.js", "--version"], { env });
  expect([readdirSync(shared), readdirSync(join(home, ".cache"))]).toEqual([[], ["schultor"]]);
});

test.each(["start", "test"])(
  "npm %s without the packages says to run npm ci, and nothing else fails",
  async (script) => {
    const folder = mkdtempSync(join(tmpdir(), "schultor-clone-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ["package.json", "bin"]) cpSync(name, join(folder, name), { recursive: true });
    const ended = await promisify(execFile)("npm", ["run", "--silent", script], { cwd: folder }).catch(
      (error: unknown) => error,
    );
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "The packages are not installed. Run `npm ci`, which brings Node 24 and PostgreSQL too.\n",
    });
  },
);

test("production with an http issuer, no keys and the demo world does not start, and names every problem", async () => {
  const program = startProgram(["src/main.ts"], {
    NODE_ENV: "production",
    PORT: "abc",
    ISSUER_URL: "http://login.example.org",
    DEMO_WORLD: "true",
    DATABASE_URL: db.url,
  });
  expect(await program.ended).toEqual({ code: 78, signal: null });
  for (const problem of [
    "PORT=abc",
    "DEMO_WORLD=true is refused",
    "ISSUER_URL must start with https",
    "ENCRYPTION_KEYS is missing",
  ])
    expect(program.output()).toContain(problem);
});

test("a taken port is told in words, and nothing is left behind", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const program = startProgram(["src/main.ts"], { PORT: String(port), DATABASE_URL: db.url });
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.output()).toContain(`Port ${port} is taken by another program`);
  other.close();
});

const listKids = async (url: string) => {
  const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

test("without configuration it starts on an embedded database, prints what to try, is served by commands beside it, and stops when asked", async () => {
  const program = startProgram(["src/main.ts"], { PORT: "0", DATA_DIR: dataDir });
  const [, url] = await program.says(/IDM API +(http:\/\/localhost:\d+)\//);
  await expectReady(url!);
  await program.says(/student\.goethe +demo-student-goethe/);
  const [curl] = await program.says(/curl .*schools(?=\n)/);
  const { stdout } = await promisify(execFile)("sh", ["-c", curl]);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual([
    "Förderzentrum Süd",
    "Goethe-Gymnasium Musterstadt",
  ]);
  const [signOnUrl] = await program.says(/http:\S+\/(login|sign-in)(?= )/);
  const first = await fetch(signOnUrl, { redirect: "manual" });
  const page = await makeBrowser(url!).open(first.headers.get("location") ?? signOnUrl);
  expect(page.html).toContain('name="password"');

  const beside = { DATA_DIR: dataDir };
  expect(await run(createSchool("DE-NI-1"), beside)).toMatchObject({ code: 0 });
  const before = await listKids(url!);
  const { code, out } = await run(["rotate-signing-keys", "--json"], beside);
  expect(code).toBe(0);
  const { active } = JSON.parse(out) as { active: { algorithm: string; kid: string }[] };
  for (const { kid } of active) expect(before).toContain(kid);
  await expect.poll(() => listKids(url!)).not.toEqual(before);
  const after = await listKids(url!);
  expect(after).toEqual(expect.arrayContaining(before));
  expect(after).toHaveLength(before.length + active.length);
  program.child.kill("SIGTERM");
  expect(await program.ended).toEqual({ code: 0, signal: null });

  const forced = await run(["rotate-signing-keys", "--force"], beside);
  expect(forced).toMatchObject({ code: 0, out: expect.stringMatching(/RS256 tokens are now signed with/) as string });
});

test("processes start on one database at once: one serves, a worker answers health checks and nothing else", async () => {
  const programs = await Promise.all([
    startMain({ DATABASE_URL: db.url }),
    startMain({ DATABASE_URL: db.url, ROLE: "worker" }),
  ]);
  for (const { url } of programs) await expectReady(url);
  const asked = programs.map(async ({ url }) => (await fetch(`${url}/idm/ep/v1/schools`)).status);
  expect(await Promise.all(asked)).toEqual([401, 404]);
});

const ownKey = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";

test("production logs JSON lines only, and keeps metrics to their own port", async () => {
  const program = startProgram(["src/main.ts"], {
    NODE_ENV: "production",
    ISSUER_URL: "https://login.example.org",
    HOST: "127.0.0.1",
    PORT: "0",
    METRICS_PORT: "0",
    DATABASE_URL: freshDb.url,
    ENCRYPTION_KEYS: ownKey,
  });
  const [, port, metricsPort] = await program.says(/"port":(\d+),"metricsPort":(\d+)/);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(answer.status).toBe(404);
  expect(answer.headers.get("strict-transport-security")).toContain("max-age");
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain(
    "http_request_duration_seconds",
  );
  for (const line of program.output().trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test("a command writes results to stdout and reasons to stderr, and ends with the documented codes", async () => {
  const created = await run(createSchool("DE-NI-500"));
  expect(created).toMatchObject({ code: 0, err: "" });
  const [refused, misused, unread, away, asJson] = await Promise.all([
    run(createSchool("DE-NI-500")),
    run(["migrate", "--fast"]),
    run(["check-config", "--json"], { PORT: "abc" }),
    run(["migrate"], { DATABASE_URL: db.url.replace("/schultor_test", "/no_such") }),
    run(["school", "list", "--json"], { DATABASE_URL: db.url.replace("/schultor_test", "/no_such") }),
  ]);
  expect(refused).toEqual({ code: 3, out: "", err: "Another school has this official id.\n" });
  expect(misused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Usage:") as string });
  expect(unread.code).toBe(78);
  expect((JSON.parse(unread.err) as { error: string }).error).toContain("PORT=abc");
  expect(away).toMatchObject({ code: 1, out: "", err: expect.stringContaining("in DATABASE_URL") as string });
  expect(asJson).toMatchObject({ code: 1, out: "" });
  expect(JSON.parse(asJson.err)).toMatchObject({ code: "database_unavailable" });
});

test("an import shows on stderr how far it is, to the end", async () => {
  const school = await makeMakers(db).school();
  const path = await writeRoster("id;role;first_name;last_name\n1;student;A;B\n");
  const { code, err } = await run(["import", "preview", path, "--school", school]);
  expect(code).toBe(0);
  // How far it is when that is asked for the first time is left to the machine.
  expect(err).toMatch(/^((Waiting|Reading|Checking|Comparing) [^]*\n)?Comparing .* 100 %[^\n]*\n$/);
});

test("bash completes commands, verbs, options and their words", async () => {
  const type = runHere({});
  const { out } = await type(["completion", "bash"]);
  const complete = (...words: string[]) => {
    const typed = words.map((word) => `'${word}'`).join(" ");
    const script = `${out}\nCOMP_WORDS=(schultor ${typed}); COMP_CWORD=${words.length}; _schultor; echo "\${COMPREPLY[*]}"`;
    return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim();
  };
  expect(complete("per")).toBe("person");
  expect(complete("school", "")).toBe("list create show update processing-record set-sign-in export letter set-letter");
  expect(complete("person", "create", "--sch")).toBe("--school");
  expect(complete("person", "create", "--role", "")).toBe("STUDENT TEACHER OTHER");
  expect(complete("person", "create", "--output", "c")).toBe("csv");
  expect(complete("help", "datab")).toBe("database");
  expect((await type(["completion", "zsh"])).out).toContain("bashcompinit");
});
