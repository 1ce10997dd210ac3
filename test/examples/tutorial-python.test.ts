import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeOperator, runHere } from "../cli/program.ts";
import { fits, readSnippets } from "../docs/snippets.ts";
import { startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeRunningClock, type TestService } from "../support/service.ts";
import { passPages } from "../support/token.ts";
import { examples, expectCopy } from "./example.ts";
import { notifyApps, openTerminal, readFinished } from "./terminal.ts";

const snippets = readSnippets("tutorial-python");
const files = ["app.py", "copy_of_schools.py"];
const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
const project = join(folder, "my-python-app");
let service: TestService;

/** A file as the page shows it, in blocks. */
const fileOf = (name: string): string =>
  snippets
    .filter(({ words }) => words.includes(`file=${name}`))
    .map(({ code }) => (code.startsWith(" ") ? `\n${code}\n` : `\n\n${code}\n`))
    .join("")
    .slice(2);

beforeAll(async () => {
  atFileEnd(() => rmSync(folder, { recursive: true }));
  // The app judges tokens and signatures by the real time.
  service = await startDemo({ clock: makeRunningClock() });
});

test.each(files)("the tutorial shows the whole of %s of the example", (name) => {
  expect(fileOf(name)).toBe(readFileSync(join(import.meta.dirname, "../../examples/python", name), "utf8"));
});

test("its commands, one after the other, make an app that follows the school year and passes check-app", async () => {
  const terminal = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  const [make, login, register, start, play, check] = snippets.filter(({ words }) => words[0] === "step");
  await terminal.run(make!.code);
  const finished = await readFinished(service, "tutorial-python");
  for (const name of files) {
    const written = fileOf(name).replaceAll("http://localhost:3000", service.url);
    expect(finished.get(`my-app/${name}`)).toBe(written);
    writeFileSync(join(project, name), written);
  }
  // Without a login its first command fails, and the block goes no further.
  await expect(terminal.run(register!.code)).rejects.toThrow();
  expect(existsSync(join(project, "listen.log"))).toBe(false);
  expect(await terminal.run(login!.code)).toContain("OPERATOR");
  const accounts = await terminal.run(register!.code);
  const clientSecret = await terminal.run("echo $CLIENT_SECRET");
  await terminal.run(start!.code);

  const copying = {
    example: examples.find(({ name }) => name === "python")!,
    file: join(project, "copy.db"),
    output: () => readFileSync(join(project, "app.log"), "utf8"),
  };
  const expectCopyNow = () => expectCopy(copying, { issuer: service.url, clientId: "my-python-app", clientSecret });
  await expectCopyNow();
  // As the page's command does, without processes for each step.
  const [, sandbox] = /^Sandbox: (\S+),/m.exec(accounts)!;
  const { ask } = makeOperator(runHere({ NODE_ENV: "test", DATABASE_URL: service.db.url }));
  for (const step of ["JOIN", "MOVE", "LEAVE", "RESTORE", "MANY", "SYNC_OFF", "SYNC_ON", "NEW_YEAR", "ERASE"]) {
    if (step === "JOIN") expect(await terminal.run(play!.code)).toContain("JOIN: ");
    else await ask("sandbox", "play", sandbox!);
    await notifyApps(service);
    const schools = (await expectCopyNow()).filter(({ type }) => type === "school");
    expect(schools.length, step).toBe(step === "SYNC_OFF" ? 1 : 2);
  }

  // After the year, because who has signed in stays a user when the school's sync is off, and is in no list.
  const app = makeBrowser("http://127.0.0.1:4100");
  const platform = makeBrowser(service.url);
  const [, username, password] = /^PUPIL: (\S+) \/ (\S+)$/m.exec(accounts)!;
  const asked = await app.open("/login");
  const pupil = { username: username!, password: password! };
  const back = await passPages(platform, await platform.open(asked.url), pupil);
  expect((await app.open(back.url)).html, copying.output()).toMatch(/Hello [^]*Groups: 6a/);

  const report = await terminal.run(check!.code);
  expect(fits(check!.output!, report) ? "as shown" : report).toBe("as shown");

  const another = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  await another.run(make!.code);
  expect(await another.run(register!.code)).toBe(accounts);
  await another.run(start!.code);
});
