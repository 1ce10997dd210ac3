import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWorld } from "../api/sign-on/world.ts";
import { chromiumOptions } from "../browser/support/browser.ts";
import { makeRunningClock } from "../support/service.ts";
import { startBrowserClient } from "./browser-client.ts";
import { clients, steps, type Client, type Step } from "./clients.ts";
import { pageFile, printPage, readResults, resultsFile, type Result, type Results } from "./page.ts";
import { startServerClient } from "./server-client.ts";
import settings from "./package.json" with { type: "json" };

const world = startWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" }, makeRunningClock());
const isRecorded = process.env["COMPATIBILITY"] === "record";
const results: Results = readResults();
let browser: Browser;

beforeAll(async () => {
  browser = await chromium.launch(chromiumOptions);
});
afterAll(() => browser.close());

/** Only what gets worse is a failure. */
const withoutFailures = (result: Results[string]) =>
  Object.fromEntries(Object.entries(result).filter(([, what]) => what !== "no"));

/** Packages of Debian, where they are installed, only to be recorded. */
const isTried = ({ package: name, command }: Client) =>
  !command || (isRecorded && spawnSync("dpkg-query", ["--status", name]).status === 0);

function versionOf({ package: name, command }: Client): string {
  if (!command) return (settings.dependencies as Record<string, string>)[name]!;
  const version = execFileSync("dpkg-query", ["--show", "--showformat=${Version}", name], { encoding: "utf8" });
  return version.replace(/[-+].*/, "");
}

describe.concurrent("a client of others does what the table says", () => {
  test.for(clients.filter(isTried))("$name", async (client, { expect }) => {
    const { attempts, printed } = client.isBrowser
      ? await startBrowserClient(client, world, browser)
      : await startServerClient(client, world);
    const did = {} as Record<Step, Result>;
    for (const step of Object.keys(steps) as Step[]) {
      did[step] = !client.offers.includes(step) ? "not offered" : did.signOn === "no" ? "no" : "yes";
      if (did[step] === "yes")
        await attempts[step]().catch((error: unknown) => {
          did[step] = "no";
          console.error(`${client.name}, ${step}:`, error, printed());
        });
    }
    const tried = { tried: new Date().toISOString().slice(0, 10) };
    const result = { version: versionOf(client), ...(client.command && tried), ...did };
    if (isRecorded) results[client.program] = result;
    else expect(result).toMatchObject(withoutFailures(results[client.program]!));
  });
});

test("the page of the documentation shows the results, and the programs as they were run", () => {
  if (isRecorded) {
    const ordered = clients.map(({ program }) => [program, results[program]] as const);
    writeFileSync(resultsFile, `${JSON.stringify(Object.fromEntries(ordered), null, 2)}\n`);
    writeFileSync(pageFile, printPage());
  }
  expect(readFileSync(pageFile, "utf8")).toBe(printPage());
});
