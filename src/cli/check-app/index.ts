import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Result } from "../command.ts";
import type { Verdict } from "./checks.ts";
import { startIssuer } from "./issuer.ts";
import { makeJUnitReport, makeReport } from "./report.ts";
import { checkSignOn, type SignOnSettings } from "./sign-on.ts";
import { checkWebhook, type WebhookSettings } from "./webhook.ts";

export type CheckAppSettings = {
  signOn: (Omit<SignOnSettings, "issuer"> & { port: number; waitSeconds: number }) | null;
  webhook: WebhookSettings | null;
  docs: string;
  junit: string | undefined;
  tell(line: string): void;
};

export async function checkApp({ signOn, webhook, docs, junit, tell }: CheckAppSettings): Promise<Result> {
  const verdicts: Verdict[] = [];
  if (signOn !== null) verdicts.push(...(await playIssuer(signOn, tell)));
  if (webhook !== null) {
    tell(`Sending events to ${webhook.url}`);
    verdicts.push(...(await checkWebhook(webhook)));
  }
  if (junit !== undefined) await writeFile(junit, makeJUnitReport(verdicts, docs));
  return makeReport(verdicts, docs);
}

async function playIssuer(
  { port, waitSeconds, ...settings }: NonNullable<CheckAppSettings["signOn"]>,
  tell: (line: string) => void,
): Promise<Verdict[]> {
  const issuer = await startIssuer({ port, clientId: settings.clientId });
  try {
    tell(`The issuer is ${issuer.url}`);
    if (waitSeconds > 0) {
      tell("Waiting for the app to read its discovery document");
      const waited = new AbortController();
      const timer = sleep(waitSeconds * 1000, undefined, { signal: waited.signal }).catch(() => undefined);
      await Promise.race([issuer.discovered, timer]);
      waited.abort();
    }
    return await checkSignOn({ ...settings, issuer }, tell);
  } finally {
    await issuer.close();
  }
}
