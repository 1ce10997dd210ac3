import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkCalledUri } from "../../../src/access/index.ts";
import { makeStaff, type AdminClient } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import type { TestApp } from "../../support/token.ts";
import { makeBasic, type Early } from "./conformance/basic.ts";
import { makeSuite, type Module, type Suite } from "./conformance/flow.ts";
import { backUri, makeBackchannel, makeLogout } from "./conformance/logout.ts";
import { config, makeDynamic, makeThirdParty } from "./conformance/others.ts";
import { planKeys, type plans, printPage, type Outcomes } from "./conformance/plans.ts";
import { makeRelyingParty } from "./conformance/relying-party.ts";
import { startAttackWorld } from "../upstream-world.ts";
import { startRuleWorld } from "./world.ts";

// The modules of the OpenID Foundation's conformance suite for providers and relying parties, by their names.
const world = startRuleWorld({ WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const upstreamWorld = startAttackWorld();

let suite: Suite;
let formPostSuite: Suite;
let early: Early;
let formPostEarly: Early;
let operator: AdminClient;
let logoutApp: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  const [client, second] = [await world.makeApp({ pkceRequired: false }), await world.makeApp({ pkceRequired: false })];
  suite = makeSuite(world, client, second);
  formPostSuite = makeSuite(world, client, second, "form_post");
  const signIn = () => suite.complete({}, { browser: makeBrowser(world.service.url) });
  early = { promptLogin: await signIn(), maxAge: await signIn() };
  formPostEarly = { promptLogin: await signIn(), maxAge: await signIn() };
  operator = (await makeStaff(world.service, "OPERATOR")).call;
  receiver = await startReceiver();
  const backchannelLogoutUri = await checkCalledUri(`${receiver.url}/logout`, {
    allowPrivateAddresses: true,
  });
  logoutApp = await world.makeApp({
    pkceRequired: false,
    postLogoutRedirectUris: [backUri],
    backchannelLogoutUri,
  });
});

const modules: Record<keyof typeof plans, Record<string, Module>> = {
  basic: makeBasic(() => early),
  formPost: makeBasic(() => formPostEarly),
  config,
  thirdParty: makeThirdParty(() => operator),
  logout: makeLogout(() => logoutApp),
  backchannel: makeBackchannel(
    () => logoutApp,
    () => receiver,
  ),
  dynamic: makeDynamic(() => operator),
  ...makeRelyingParty(() => upstreamWorld),
};

const outcomes = Object.fromEntries(planKeys.map((key) => [key, new Map()])) as Outcomes;

describe.each(planKeys)("%s", (key) => {
  test.each(Object.entries(modules[key]))("%s", async (name, run) => {
    const outcome = await run(key === "formPost" ? formPostSuite : suite);
    outcomes[key].set(name, outcome ?? { result: "pass", why: "" });
  });
});

test("what the other plans need is not offered", async () => {
  const document = await suite.discovery();
  expect(document["response_types_supported"]).toEqual(["code"]);
  expect(document["frontchannel_logout_supported"] ?? false).toBe(false);
  expect(document).not.toHaveProperty("check_session_iframe");
});

test("docs/conformance.md says what these modules did (npm run docs:conformance writes it)", async () => {
  await expect(printPage(outcomes)).toMatchFileSnapshot(join(import.meta.dirname, "../../../docs/conformance.md"));
});
