// @module-tag slow
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { ClientId } from "../../src/access/index.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { runHere, serveHere } from "../cli/program.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startMain } from "../support/program.ts";
import { isInstalled, isLeftOut, whatIsMissing } from "../support/programs.ts";
import { startReceiver } from "../support/receiver.ts";
import { readCommands, typeCommands, type Ended } from "../support/typed-commands.ts";
import { inside } from "../support/webhooks.ts";

const root = join(import.meta.dirname, "../..");
const runbook = readFileSync(join(root, "deploy/RUNBOOK.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "schultor-runbook-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Commands that no test here types, by how they begin, each with the reason. */
const notTyped: Readonly<Record<string, string>> = {
  "cd /opt/schultor": "the test has its own PATH and environment",
  "set -a": "as above",
  systemctl: "needs systemd as the first process",
  timedatectl: "as above",
  patronictl: "needs a cluster; `npm run drill -- failover` has one",
  "pg_ctlcluster 15": "needs a server of Debian's",
  "pgbackrest ": "needs a server of Debian's with an archive",
  "until [ ": "waits for the server of Debian's; test/faults/drill.test.ts waits the same way",
  "schultor finish-restore": "test/faults/backup.test.ts types it",
  "schultor backup": "test/faults/backup.test.ts types it",
  "runuser -u postgres": "as above",
  "DATABASE_URL=postgresql://…/restored schultor restore": "as above",
  "git -C /opt/schultor pull": "replaces the program that runs the tests",
  "echo | openssl s_client": "asks the proxy of an installation",
};

type Part = { heading: string; commands: string[] };

const parts: Part[] = runbook.split(/^## /m).map((text) => ({
  heading: text.split("\n")[0]!,
  commands: readCommands(text)
    .filter(({ isFenced }) => isFenced)
    .map((command) => command.text),
}));

/** The programs that commands need and that are not on every machine; what needs a missing one is not typed. */
const missing = ["psql", "jq", "curl", "openssl"].filter((program) => !isInstalled(program));
const needsMissing = (text: string) => missing.some((program) => new RegExp(`\\b${program} `).test(text));
const isTyped = (text: string) => !Object.keys(notTyped).some((beginning) => text.startsWith(beginning));

for (const { commands } of parts)
  for (const text of commands)
    if (isTyped(text) && needsMissing(text)) process.stderr.write(`SKIPPED, because its program is missing: ${text}\n`);

const listTyped = (wanted: (heading: string) => boolean) =>
  parts.filter(({ heading }) => wanted(heading)).flatMap(({ commands }) => commands.filter(isTyped));

/** The service sends what is pending at a time of its own. */
const awaitDelivery = (text: string): string[] =>
  text.startsWith("schultor webhook delivery") ? [`until { ${text}\n} | grep 204; do sleep 1; done`, text] : [text];

/** They change the keys under which the service of the test runs, so they come when it has ended. */
const withoutService = ["An encryption key leaked", "An encryption key is lost"];

const key = Buffer.alloc(32, "runbook").toString("base64");
const head = "id;role;first_name;call_name;last_name;classes;courses;groups;status\n";
const pupil = (id: number) => `${id};student;Bo;;Muster ${id};5a;;;\n`;

/** What the commands name: a school with a wrong import, people, an app whose receiver got an event. */
async function makeWorld(db: TestDatabase): Promise<void> {
  const make = makeMakers(db);
  const school = await make.school({ officialId: "DE-NI-12345" });
  await make.person({ school });
  const { clientId } = await make.app({ clientId: "lernwelt" as ClientId });
  await make.grant({ app: clientId, school });
  const receiver = await startReceiver();
  const endpoint = { clientId, url: receiver.url, eventTypes: ["person" as const] };
  const keys = [Buffer.from(key, "base64")];
  await registerEndpoint(db, endpoint, { origin: { at: new Date() }, keys, policy: inside });
  const run = runHere({ DATABASE_URL: db.url, ENCRYPTION_KEYS: key, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
  const name = ["--last", "Beispiel"];
  const type = async (...args: string[]) => {
    const { code, out, err } = await run([...args, "--quiet", "--yes"]);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${err}`);
    return out.trim();
  };
  await type("staff", "create", "OPERATOR", "--username", "zoe.probst", "--first", "Zoe", ...name);
  const place = ["--school", "DE-NI-12345", "--role", "STUDENT"];
  const ada = await type("person", "create", ...place, "--first-full", "Ada", ...name);
  await type("person", "set-login", ada, "--username", "ada.beispiel");
  const files = { "yesterday.csv": [1, 2, 3], "today.csv": [1] };
  for (const [file, ids] of Object.entries(files)) {
    writeFileSync(join(folder, file), head + ids.map(pupil).join(""));
    const roster = await type("import", "preview", join(folder, file), "--school", "DE-NI-12345");
    await (file === "today.csv" ? type("import", "confirm", roster) : type("import", "apply", roster));
  }
}

/** The log as the journal has it. */
function writeJournal(): void {
  let text = "a line of another program\n";
  const log = makeLog({ level: "info", format: "json", to: { write: (line) => void (text += line) } });
  log.error({ err: new Error("no route to host"), job: "webhooks.sweep" }, "job failed");
  log.info("ready");
  writeFileSync(join(folder, "journal"), text);
}

const outputOf = (ended: Ended[], beginning: string) =>
  ended.find(({ text }) => text.startsWith(beginning))?.output ?? `not typed: ${beginning}`;

test("every command that is not typed is in the runbook", () => {
  const all = parts.flatMap(({ commands }) => commands);
  for (const beginning of Object.keys(notTyped))
    expect(
      all.some((text) => text.startsWith(beginning)),
      beginning,
    ).toBe(true);
  for (const heading of withoutService) expect(parts.map((part) => part.heading)).toContain(heading);
});

test("every other command of the runbook runs as it is typed", async () => {
  const db = await testDatabase();
  await makeWorld(db);
  writeJournal();
  await serveHere(folder);
  const role = `night_${db.url.slice(-6).replaceAll(/\W/g, "")}`;
  await db.pool.query(`CREATE ROLE ${role}`);
  const env = { DATABASE_URL: db.url, ENCRYPTION_KEYS: key, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const service = await startMain(env);
  const type = async (wanted: (heading: string) => boolean) => {
    const texts = listTyped(wanted)
      .filter((text) => !needsMissing(text))
      .flatMap(awaitDelivery)
      .map((text) =>
        text
          .replaceAll(/https:\/\/login\.example\.org|http:\/\/127\.0\.0\.1:9464/g, service.url)
          .replaceAll("ROLE CURRENT_USER", `ROLE ${role}`),
      );
    const journal = `journalctl() { cat ${join(folder, "journal")}; }`;
    const path = `${folder}:${process.env["PATH"]}`;
    const given = { ...env, PATH: path, XDG_CONFIG_HOME: join(folder, "user") };
    return typeCommands([journal, ...texts], given, { folder });
  };
  const ended = await type((heading) => !withoutService.includes(heading));
  service.child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
  await db.pool.query(`DROP ROLE ${role}`);
  const later = await type((heading) => withoutService.includes(heading));

  expect([...ended, ...later].filter(({ code }) => code !== 0)).toEqual([]);
  expect(ended.length + later.length).toBeGreaterThan(60);
  expect(outputOf(ended, "schultor health")).toMatch(/^service +healthy$/m);
  expect(outputOf(ended, "schultor import apply $back || schultor import confirm")).toContain("It has been applied.");
  expect(outputOf(ended, "schultor webhook delivery")).toContain("204");
  expect(outputOf(ended, "schultor person delete")).toContain("deleted");
  expect(outputOf(later, "schultor re-encrypt")).toContain("encrypted with the first key");
  if (missing.length === 0) {
    expect(outputOf(ended, "logs | jq")).toContain('"no route to host"');
    expect(outputOf(ended, 'psql "$DATABASE_URL" -c "DELETE FROM signing_key')).toMatch(/DELETE [36]/);
  }
});

/** Programs of others, asked for their help: each verb and option of the runbook has to be in it. */
for (const [program, help] of [
  ["patronictl", ["--help"]],
  ["pgbackrest", ["help", "restore"]],
] as const) {
  const claim = `${program} knows the commands of the runbook`;
  test.skipIf(isLeftOut(claim, whatIsMissing(program)))(claim, async () => {
    // Debian's configuration of pgBackRest is readable only for its own account.
    const env = { ...process.env, PGBACKREST_CONFIG: "/dev/null" };
    const { stdout } = await promisify(execFile)(program, help, { env });
    const typed = parts.flatMap(({ commands }) => commands).filter((text) => text.startsWith(`${program} `));
    expect(typed.length).toBeGreaterThan(0);
    for (const text of typed) {
      const words = text
        .replace(/ #.*/, "")
        .replaceAll(/'[^']*'/g, "")
        .split(/\s+/)
        .slice(1);
      const wanted =
        program === "patronictl" ? [words[2]!] : words.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? []);
      for (const word of wanted) expect(stdout, text).toMatch(new RegExp(`^\\s*(--)?${word}\\b`, "m"));
    }
  });
}

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

test("every alert leads to the part of the runbook that names it", () => {
  type Alerts = { groups: { rules: { alert: string; annotations: { runbook?: string } }[] }[] };
  const alerts = parse(readFileSync(join(root, "deploy/prometheus/alerts.yml"), "utf8")) as Alerts;
  const rules = alerts.groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(10);
  const texts = new Map(runbook.split(/^## /m).map((text) => [anchorOf(text.split("\n")[0]!), text]));
  for (const { alert, annotations } of rules) {
    const [page, anchor = ""] = (annotations.runbook ?? "").split("#");
    expect(page, alert).toBe("RUNBOOK.md");
    expect(texts.get(anchor) ?? "", alert).toContain(`\`${alert}\``);
  }
  const linked = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!);
  expect(linked.filter((anchor) => !texts.has(anchor))).toEqual([]);
});
