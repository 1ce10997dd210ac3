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

const outcomes = new Map<string, Outcome>();

describe.each(Object.keys(plans))("%s", (plan) => {
  test.each(Object.entries(plans[plan]!))("%s", async (module, run) => {
    const outcome = await run(plan === "Form Post OP" ? formPostSuite : suite);
    outcomes.set(`${plan}: ${module}`, outcome ?? { result: "pass", why: "" });
  });
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

/** Writes the results into the page. Errors: throws for a module without an outcome, and the other way round. */
function printPage(page: string): string {
  const left = new Map(outcomes);
  let plan = "";
  const lines = page.split("\n").map((line) => {
    plan = /^## (.*)/.exec(line)?.[1] ?? plan;
    const [, module, checks] = /^\| `([\w-]+)` \| (.*?) \| .* \|$/.exec(line) ?? [];
    if (module === undefined) return line;
    const name = `${plan}: ${module}`;
    const outcome = left.get(name);
    if (!left.delete(name) || outcome === undefined) throw new Error(`${name} did not run`);
    return `| \`${module}\` | ${checks} | ${words[outcome.result]}${outcome.why && `: ${outcome.why}`} |`;
  });
  if (left.size > 0) throw new Error(`docs/conformance.md has no ${[...left.keys()].join(", ")}`);
  return lines.join("\n");
}

test("docs/conformance.md says what these modules did (npm run docs:conformance writes the results)", async () => {
  const file = join(import.meta.dirname, "../../../docs/conformance.md");
  await expect(printPage(readFileSync(file, "utf8"))).toMatchFileSnapshot(file);
});
