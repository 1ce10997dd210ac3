import express, { Router } from "express";
import type { AdminSchemas } from "../../../admin/index.ts";
import * as form from "../connection.ts";
import type { Connection, Update } from "../connection.ts";
import german from "../locales/de.json" with { type: "json" };
import { addressOfLink, keepToken, onLink, onVisit, openLink, setUpPath, showOpening, showUnusable } from "./visit.ts";
import type { LinkVisit, Redirect, SetUpDeps, StepPage } from "./visit.ts";

const steps = ["start", "provider", "values", "check", "result", "switch-on"] as const;
type Step = (typeof steps)[number];

const readConnection = ({ getRecord }: LinkVisit) => getRecord("getUpstreamConnection");
const readSetUp = ({ call }: LinkVisit) => call("getUpstreamSetUp");

const hasValues = ({ issuer, clientId, hasSecret }: Connection): boolean =>
  issuer !== null && clientId !== null && hasSecret;

type Content = { connection: Connection; tag: string } & Record<string, unknown>;

function pageOf({ t, address, caller }: LinkVisit, step: Step, content: Content): StepPage {
  const { name, schoolName } = content.connection;
  const model = { ...content, base: address, expiresAt: caller.expiresAt.toISOString(), steps, step };
  return { title: t(`setUp.${step}.title`, { name }), view: `set-up-${step}`, model, place: schoolName };
}

/** Goes on where the contact is. The browser arrives here after a test sign-in too, with `failure` if it failed. */
async function findStep(visit: LinkVisit): Promise<Redirect> {
  const [{ record }, { test }] = await Promise.all([readConnection(visit), readSetUp(visit)]);
  const failure = visit.query("failure");
  if (failure !== "") return { to: `${visit.address}/check?failure=${encodeURIComponent(failure)}` };
  return { to: `${visit.address}/${test !== null ? "result" : hasValues(record) ? "check" : "start"}` };
}

async function showStart(visit: LinkVisit): Promise<StepPage> {
  const { record, tag } = await readConnection(visit);
  return pageOf(visit, "start", { connection: record, tag });
}

async function showProvider(visit: LinkVisit): Promise<StepPage> {
  const { record, tag } = await readConnection(visit);
  return pageOf(visit, "provider", { connection: record, tag, providerSteps: form.listProviderSteps(record) });
}

async function showValues(visit: LinkVisit): Promise<StepPage> {
  const { record, tag } = await readConnection(visit);
  const connection = form.withTyped(record, visit);
  return pageOf(visit, "values", { connection, tag, secretExpiresOn: form.dayOf(connection.secretExpiresAt) });
}

const change = ({ call }: LinkVisit, body: Update) => call("updateUpstreamConnection", { body });

async function saveValues(visit: LinkVisit): Promise<Redirect> {
  const { record } = await readConnection(visit);
  await change(visit, form.readFilledIn(visit, record));
  return { to: `${visit.address}/check` };
}

/** `failure` is why a test sign-in failed. */
type CheckResult = { check?: AdminSchemas["UpstreamCheck"]; failure?: string };

async function showFound(visit: LinkVisit, { check, failure = "" }: CheckResult): Promise<StepPage> {
  const { record, tag } = await readConnection(visit);
  const content = { connection: record, tag, hasValues: hasValues(record), check: check ?? null };
  return pageOf(visit, "check", { ...content, failure: Object.hasOwn(german.failure, failure) ? failure : null });
}

const showCheck = (visit: LinkVisit): Promise<StepPage> => showFound(visit, { failure: visit.query("failure") });

/** Reads what the provider says about itself now. */
const checkValues = async (visit: LinkVisit): Promise<StepPage> =>
  showFound(visit, { check: await visit.call("updateUpstreamMetadata") });

/** Sends the browser to the provider. A link and no form: browsers limit where a form may lead to. */
async function startTest(visit: LinkVisit): Promise<StepPage | Redirect> {
  const { deps, caller, browser, req } = visit;
  const begun = await deps.setUp.startTest({ id: caller.setUpLinkId, browser, address: req.ip ?? "" });
  if (begun === null) return showUnusable(visit);
  return "redirectTo" in begun ? { to: begun.redirectTo.href } : showFound(visit, { failure: begun.failure.code });
}

type Preview = AdminSchemas["UpstreamRulePreview"];

async function showTest(visit: LinkVisit, readyPreview?: Preview): Promise<StepPage> {
  const [{ record, tag }, { test, ruleClaims }] = await Promise.all([readConnection(visit), readSetUp(visit)]);
  const connection = form.withTyped(record, visit);
  const preview = readyPreview ?? (await previewRule(visit, {}));
  // What was typed may be refused; the preview is then of the present rule.
  const previewField = (readyPreview === undefined ? record : connection).ruleField;
  const claims = [...new Set([...(test?.claims.map(({ name }) => name) ?? []), ...ruleClaims])];
  return pageOf(visit, "result", { connection, tag, test, claims, isClaim: form.isClaim, preview, previewField });
}

const previewRule = ({ call }: LinkVisit, body: AdminSchemas["UpstreamRuleInput"]): Promise<Preview> =>
  call("previewUpstreamRule", { body });

async function saveRule(visit: LinkVisit): Promise<StepPage | Redirect> {
  const rule = form.readRule(visit);
  if (visit.field("preview") !== "") return showTest(visit, await previewRule(visit, rule));
  await change(visit, rule);
  return { to: `${visit.address}/result` };
}

async function showSwitch(visit: LinkVisit): Promise<StepPage> {
  const [{ record, tag }, { classes, people, test }] = await Promise.all([readConnection(visit), readSetUp(visit)]);
  const refusal = test?.refusal ?? "NONE";
  // Without a rule, the page says that and no more.
  const isRefused = refusal === "OTHER_SCHOOL" || (refusal !== "NONE" && record.ruleClaim !== null);
  return pageOf(visit, "switch-on", { connection: record, tag, classes, people, refusal, isRefused });
}

async function switchOn(visit: LinkVisit): Promise<Redirect> {
  await change(visit, { state: "ON", groupIds: form.readClasses(visit) });
  return { to: `${visit.address}/switch-on` };
}

async function switchOff(visit: LinkVisit): Promise<Redirect> {
  await change(visit, { state: "OFF" });
  return { to: `${visit.address}/switch-on` };
}

const stepPages: Readonly<Record<Step, (visit: LinkVisit) => Promise<StepPage>>> = {
  start: showStart,
  provider: showProvider,
  values: showValues,
  check: showCheck,
  result: (visit) => showTest(visit),
  "switch-on": showSwitch,
};

const readBody = express.urlencoded({ extended: false, limit: "64kb" });

/**
 * `/set-up`: the IT contact of a school, who has no account, sets a connection up. The address with the token is left
 * at once, and opens nothing: programs that look at the links of e-mails follow it too.
 */
export function makeSetUpPages(deps: SetUpDeps): Router {
  const router = Router();
  const one = addressOfLink(":setUpLinkId");
  router.get(setUpPath, onVisit(deps, showOpening));
  router.post(setUpPath, readBody, onVisit(deps, openLink));
  router.get(one, onLink(deps, findStep));
  for (const [step, show] of Object.entries(stepPages)) router.get(`${one}/${step}`, onLink(deps, show));
  router.get(`${one}/sign-in`, onLink(deps, startTest, stepPages.check));
  router.post(`${one}/values`, readBody, onLink(deps, saveValues, stepPages.values));
  router.post(`${one}/check`, readBody, onLink(deps, checkValues, stepPages.check));
  router.post(`${one}/result`, readBody, onLink(deps, saveRule, stepPages.result));
  router.post(`${one}/switch-on`, readBody, onLink(deps, switchOn, stepPages["switch-on"]));
  router.post(`${one}/off`, readBody, onLink(deps, switchOff, stepPages["switch-on"]));
  router.get(`${setUpPath}/:token`, onVisit(deps, keepToken));
  return router;
}
