// @module-tag slow
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeStaff, type AdminClient } from "../../support/admin.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import type { TestApp } from "../../support/token.ts";
import { basic } from "./conformance/basic.ts";
import { makeSuite, type Module, type Outcome, type Suite } from "./conformance/flow.ts";
import { backUri, makeBackchannel, makeLogout } from "./conformance/logout.ts";
import { config, makeDynamic, makeThirdParty } from "./conformance/others.ts";
import { makeRelyingParty } from "./conformance/relying-party.ts";
import { startAttackWorld } from "../upstream-world.ts";
import { startRuleWorld } from "./world.ts";

// The modules of the OpenID Foundation's conformance suite for providers and relying parties, by their names.
const world = startRuleWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const upstreamWorld = startAttackWorld();

let suite: Suite;
let formPostSuite: Suite;
let operator: AdminClient;
let logoutApp: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  const [client, second] = [await world.makeApp({ pkceRequired: false }), await world.makeApp({ pkceRequired: false })];
  suite = makeSuite(world, client, second);
  formPostSuite = makeSuite(world, client, second, "form_post");
  operator = (await makeStaff(world.service, "OPERATOR")).call;
  receiver = await startReceiver();
  const backchannelLogoutUri = await checkCalledUri(`${receiver.url}/logout`, { allowPrivateAddresses: true });
  const addresses = { postLogoutRedirectUris: [backUri], backchannelLogoutUri };
  logoutApp = await world.makeApp({ pkceRequired: false, ...addresses });
});

/** By the titles of the plans in docs/conformance.md. */
const plans: Record<string, Record<string, Module>> = {
  "Basic OP": basic,
  "Form Post OP": basic,
  "Config OP": config,
  "3rd Party-Init OP": makeThirdParty(() => operator),
  "RP-Initiated OP": makeLogout(() => logoutApp),
  "Back-Channel OP": makeBackchannel(
    () => logoutApp,
    () => receiver,
  ),
  "Dynamic OP": makeDynamic(() => operator),
  ...makeRelyingParty(() => upstreamWorld),
};

const outcomes = new Map<string, Promise<Outcome>>();

/** Runs a module unless it ran. */
function runModule(plan: string, module: string): Promise<Outcome> {
  const name = `${plan}: ${module}`;
  const run = async () => (await plans[plan]![module]!(plan === "Form Post OP" ? formPostSuite : suite)) ?? passed;
  const outcome = outcomes.get(name) ?? run();
  outcomes.set(name, outcome);
  return outcome;
}
const passed: Outcome = { result: "pass", why: "" };

const file = join(import.meta.dirname, "../../../docs/conformance.md");
let page = readFileSync(file, "utf8");

describe.each(Object.keys(plans))("%s", (plan) => {
  const modules = Object.keys(plans[plan]!);
  test.each(modules)("%s", async (module) => void (await runModule(plan, module)));

  test("docs/conformance.md says what these modules did (npm run docs:conformance writes the results)", async () => {
    const results = new Map<string, Outcome>();
    for (const module of modules) results.set(module, await runModule(plan, module));
    page = printPlan(page, plan, results);
    await expect(page).toMatchFileSnapshot(file);
  });
});

test("docs/conformance.md has no other plans", () => {
  const listed = page.split("\n## ").filter((section) => /^\| `[\w-]+` \|/m.test(section));
  expect(listed.map((section) => section.split("\n")[0])).toEqual(Object.keys(plans));
});

test("what the other plans need is not offered", async () => {
  const document = await suite.discovery();
  expect(document["response_types_supported"]).toEqual(["code"]);
  expect(document["frontchannel_logout_supported"] ?? false).toBe(false);
  expect(document).not.toHaveProperty("check_session_iframe");
});

const words: Record<Outcome["result"], string> = {
  pass: "pass",
  warning: "pass, with a warning by decision",
  "not applicable": "not applicable",
  differs: "differs by decision",
};

/** Writes the results of a plan into the page. Errors: throws for a module without a result, or the reverse. */
function printPlan(text: string, of: string, results: ReadonlyMap<string, Outcome>): string {
  const left = new Map(results);
  let plan = "";
  const lines = text.split("\n").map((line) => {
    plan = /^## (.*)/.exec(line)?.[1] ?? plan;
    const [, module, checks] = /^\| `([\w-]+)` \| (.*?) \| .* \|$/.exec(line) ?? [];
    if (module === undefined || plan !== of) return line;
    const outcome = left.get(module);
    if (!left.delete(module) || outcome === undefined) throw new Error(`${plan}: ${module} did not run`);
    return `| \`${module}\` | ${checks} | ${words[outcome.result]}${outcome.why && `: ${outcome.why}`} |`;
  });
  if (left.size > 0) throw new Error(`docs/conformance.md has no ${[...left.keys()].join(", ")}`);
  return lines.join("\n");
}
