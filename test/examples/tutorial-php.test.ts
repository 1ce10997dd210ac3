import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { generatorJar, prepareGenerator, shortRunFlags } from "../../openapi/tools/generator.ts";
import { fits, readSnippets } from "../docs/snippets.ts";
import { startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeRunningClock, type TestService } from "../support/service.ts";
import { passPages } from "../support/token.ts";
import { openTerminal, readFinished } from "./terminal.ts";

const snippets = readSnippets("tutorial-php");
const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
const project = join(folder, "my-php-app");
let service: TestService;

const fileOf = (name: string) =>
  `${snippets.flatMap(({ words, code }) => (words[0] === `file=${name}` ? [code] : [])).join("\n\n")}\n`;

beforeAll(async () => {
  atFileEnd(() => rmSync(folder, { recursive: true }));
  await prepareGenerator();
  // The app judges tokens and signatures by the real time.
  service = await startDemo({ clock: makeRunningClock() });
});

/** What the page installs from the registry, of the same version. */
function installGenerator(): void {
  mkdirSync(join(project, "node_modules/.bin"), { recursive: true });
  const program = `#!/bin/sh\nexec java ${shortRunFlags.join(" ")} -jar '${generatorJar}' "$@"\n`;
  writeFileSync(join(project, "node_modules/.bin/openapi-generator-cli"), program, { mode: 0o755 });
}

test("its commands, one after the other, make an app that reads with the generated client and passes check-app", async () => {
  const terminal = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  const steps = snippets.filter(({ words }) => words[0] === "step");
  const [make, generate, login, register, list, start, play, check] = steps;
  await terminal.run(make!.code);
  installGenerator();
  await terminal.run(generate!.code);
  // Without a login its first command fails, and the block goes no further.
  await expect(terminal.run(register!.code)).rejects.toThrow();
  expect(existsSync(join(project, "listen.log"))).toBe(false);
  expect(await terminal.run(login!.code)).toContain("OPERATOR");
  const accounts = await terminal.run(register!.code);

  const finished = await readFinished(service, "tutorial-php");
  for (const name of ["list.php", "app.php"]) {
    const written = fileOf(name).replaceAll("http://localhost:3000", service.url);
    expect(finished.get(`my-app/${name}`)).toBe(written);
    writeFileSync(join(project, name), written);
  }
  const listed = await terminal.run(list!.code);
  expect(fits(list!.output!, listed) ? "as shown" : listed).toBe("as shown");
  // More than a page of one school.
  expect(listed.split("\n").length).toBeGreaterThan(10);
  expect(new Set(listed.split("\n")).size).toBeGreaterThan(8);

  await terminal.run(start!.code);
  const app = makeBrowser("http://127.0.0.1:4100");
  const platform = makeBrowser(service.url);
  const [, username, password] = /^PUPIL: (\S+) \/ (\S+)$/m.exec(accounts)!;
  const asked = await app.open("/login");
  const back = await passPages(platform, await platform.open(asked.url), { username: username!, password: password! });
  expect((await app.open(back.url)).html, readFileSync(join(project, "app.log"), "utf8")).toMatch(/Hello \S.*!/);
  expect(await terminal.run(play!.code)).toContain("webhook: person create");

  const report = await terminal.run(check!.code);
  expect(fits(check!.output!, report) ? "as shown" : report).toBe("as shown");

  const another = openTerminal(service, folder, { username: "operator", password: "demo-operator" });
  await another.run(make!.code);
  expect(await another.run(register!.code)).toBe(accounts);
  await another.run(start!.code);
});
