import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, exchange, getUserTokens } from "../../support/token.ts";
import { startUpstreamWorld } from "./upstream-world.ts";

const world = startUpstreamWorld();
const folder = join(process.cwd(), "src/sign-on/");

/** The files of sign-on in which a function is called during `work`. */
async function listCalledFiles(work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
    .map(({ url }) => url.replace(/^file:\/\//, ""))
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length))
    .sort();
}

/** The files of sign-on that the guide names in its section about one sign-on. */
function listDescribedFiles(): string[] {
  const guide = readFileSync("docs/design/sign-on.md", "utf8");
  const [, section = ""] = guide
    .split(/^## /m)
    .filter((one) => one.startsWith("One sign-on, file by file"))
    .join("")
    .split(/^\|---.*$/m);
  const named = [...section.matchAll(/`((?:forms|protocol)\/[\w/-]+\.ts|sign-on\.ts)`/g)].map(([, path]) => path!);
  return [...new Set(named)].sort();
}

test("a sign-on with a password runs through the files that the guide names, at most 30", async () => {
  const app = await world.app();
  await getUserTokens(world.service, app, world.login);
  const browser = makeBrowser(world.service.url);
  const called = await listCalledFiles(async () => {
    const asked = askFor(world.service, app);
    const form = await browser.open(asked.address);
    const back = new URL((await browser.submit(form, "/login", world.login)).url);
    const { status } = await exchange(world.service, app, { browser, asked, back });
    expect(status).toBe(200);
  });
  expect(called).toEqual(listDescribedFiles());
  expect(called.length).toBeLessThanOrEqual(30);
});
