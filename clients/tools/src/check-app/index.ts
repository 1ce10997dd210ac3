import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Report } from "../report.ts";
import type { Authentication } from "./authentication.ts";
import type { Verdict } from "./checks.ts";
import { checkErasures, makeErasureApi, skipErasures, type ErasureApi } from "./erasures.ts";
import { startIssuer, type Issuer } from "./issuer.ts";
import { checkOneRoster, waitForReading } from "./oneroster.ts";
import { makeJUnitReport, makeReport } from "./report.ts";
import { makeRosterApi } from "./roster-api.ts";
import { checkSignOn, type SignOnSettings } from "./sign-on.ts";
import { checkWebhook, type WebhookSettings } from "./webhook.ts";

export type { Authentication } from "./authentication.ts";

export type CheckAppSettings = {
  issuer: { port: number; clientId: string; waitSeconds: number };
  signOn: Omit<SignOnSettings, "issuer" | "clientId"> | null;
  webhook: WebhookSettings | null;
  /** Whether the app confirms erasures; needs `webhook`. */
  hasErasures: boolean;
  /** How long the app has to begin to read the roster; null if it does not read OneRoster. */
  oneRoster: { authentication: Authentication; waitSeconds: number } | null;
  docs: string;
  junit: string | undefined;
  tell(line: string): void;
};

export async function checkApp({ docs, junit, ...settings }: CheckAppSettings): Promise<Report> {
  const { signOn, hasErasures, oneRoster } = settings;
  const verdicts =
    signOn !== null || hasErasures || oneRoster !== null
      ? await checkWithIssuer(settings)
      : await checkEvents(settings);
  if (junit !== undefined) await writeFile(junit, makeJUnitReport(verdicts, docs));
  return makeReport(verdicts, docs);
}

type Checked = Omit<CheckAppSettings, "docs" | "junit">;

async function checkWithIssuer(settings: Checked): Promise<Verdict[]> {
  const { signOn, oneRoster, tell } = settings;
  const { port, clientId, waitSeconds } = settings.issuer;
  const [erasures, roster] = [makeErasureApi(), makeRosterApi()];
  const issuer = await startIssuer({
    port,
    clientId,
    noteToken: roster.noteToken,
    answerApi: async (req, res) => roster.answer(req, res) || erasures.answer(req, res),
  });
  try {
    tell(`The issuer is ${issuer.url}`);
    if (waitSeconds > 0) await waitForDiscovery(issuer, settings);
    const ofSignOn = signOn === null ? [] : await checkSignOn({ ...signOn, clientId, issuer }, tell);
    const ofEvents = await checkEvents(settings);
    const ofErasures = await checkErased(settings, erasures, ofEvents[0]);
    if (oneRoster === null) return [...ofSignOn, ...ofEvents, ...ofErasures];
    const patience = { patienceMs: oneRoster.waitSeconds * 1000 };
    const ofRoster = await checkOneRoster({
      api: roster,
      clientId,
      issuer,
      authentication: oneRoster.authentication,
      tell,
      waitForReading: () => waitForReading(roster, patience),
    });
    return [...ofSignOn, ...ofEvents, ...ofErasures, ...ofRoster];
  } finally {
    await issuer.close();
  }
}

async function checkErased(
  { webhook, hasErasures, tell }: Checked,
  api: ErasureApi,
  heard: Verdict | undefined,
): Promise<Verdict[]> {
  if (!hasErasures || webhook === null) return [];
  tell("Asking the app to erase somebody");
  return heard?.outcome === "passed"
    ? checkErasures({ api, webhook })
    : skipErasures("A correct event is not confirmed.");
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
