import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "../report.ts";
import type { Verdict } from "./checks.ts";
import { checkErasures, makeErasureApi, skipErasures } from "./erasures.ts";
import { startIssuer, type Issuer } from "./issuer.ts";
import { makeJUnitReport, makeReport } from "./report.ts";
import { checkSignOn, type SignOnSettings } from "./sign-on.ts";
import { checkWebhook, type WebhookSettings } from "./webhook.ts";

export type { Authentication } from "./authentication.ts";

export type CheckAppSettings = {
  issuer: { port: number; clientId: string; waitSeconds: number };
  signOn: Omit<SignOnSettings, "issuer" | "clientId"> | null;
  webhook: WebhookSettings | null;
  /** Whether the app confirms erasures; needs `webhook`. */
  hasErasures: boolean;
  docs: string;
  junit: string | undefined;
  tell(line: string): void;
};

export async function checkApp({ docs, junit, ...settings }: CheckAppSettings): Promise<Report> {
  const { signOn, hasErasures } = settings;
  const verdicts = signOn !== null || hasErasures ? await checkWithIssuer(settings) : await checkEvents(settings);
  if (junit !== undefined) await writeFile(junit, makeJUnitReport(verdicts, docs));
  return makeReport(verdicts, docs);
}

type Checked = Omit<CheckAppSettings, "docs" | "junit">;

async function checkWithIssuer(settings: Checked): Promise<Verdict[]> {
  const { signOn, webhook, hasErasures, tell } = settings;
  const { port, clientId, waitSeconds } = settings.issuer;
  const api = makeErasureApi();
  const issuer = await startIssuer({ port, clientId, answerApi: api.answer });
  try {
    tell(`The issuer is ${issuer.url}`);
    if (waitSeconds > 0) await waitForDiscovery(issuer, settings);
    const ofSignOn = signOn === null ? [] : await checkSignOn({ ...signOn, clientId, issuer }, tell);
    const ofEvents = await checkEvents(settings);
    if (!hasErasures || webhook === null) return [...ofSignOn, ...ofEvents];
    const isHeard = ofEvents[0]?.outcome === "passed";
    tell("Asking the app to erase somebody");
    const ofErasures = isHeard
      ? await checkErasures({ api, webhook })
      : skipErasures("A correct event is not confirmed.");
    return [...ofSignOn, ...ofEvents, ...ofErasures];
  } finally {
    await issuer.close();
  }
}

async function checkEvents({ webhook, tell }: Checked): Promise<Verdict[]> {
  if (webhook === null) return [];
  tell(`Sending events to ${webhook.url}`);
  return checkWebhook(webhook);
}

async function waitForDiscovery({ discovered }: Issuer, { issuer, tell }: Checked): Promise<void> {
  tell("Waiting for the app to read its discovery document");
  const waited = new AbortController();
  const timer = sleep(issuer.waitSeconds * 1000, undefined, { signal: waited.signal }).catch(() => undefined);
  await Promise.race([discovered, timer]);
  waited.abort();
}
