import { randomBytes, randomUUID } from "node:crypto";
import { signEvent } from "../signature/sign.ts";
import { reasonOf } from "./browser.ts";
import { failed, passed, skipped, webhookChecks, type CheckId, type Verdict } from "./checks.ts";

export type WebhookSettings = {
  url: string;
  secret: string;
  /** The secret that replaces the other one; undefined where no replacement is tried. */
  newSecret: string | undefined;
  patienceMs?: number;
};

/** `secrets` sign it, the newest first; a header that is null is left out. */
type Sending = {
  event?: object;
  body?: string;
  type?: string;
  messageId?: string;
  secrets?: readonly string[];
  signedAt?: Date;
  headers?: Readonly<Record<string, string | null>>;
  /** What is sent in place of what was signed. */
  sentBody?: string;
};

type Answered = { status: number | null; error: string | null };

const personEvent = (action: string, personId: string = randomUUID()) => ({
  event: "person",
  action,
  ...(action === "update" && { updatedProperties: ["name"] }),
  personId,
});

const tenMinutesMs = 600_000;
const servicePatienceMs = 10_000;

/** Sends events as the service does, right ones and wrong ones. */
export async function checkWebhook(settings: WebhookSettings): Promise<Verdict[]> {
  const ids = Object.keys(webhookChecks) as (keyof typeof webhookChecks)[];
  const stranger = `whsec_${randomBytes(32).toString("base64")}`;
  const makeCheck =
    (findFault: (answered: Answered) => string | null) =>
    async (id: CheckId, sendings: readonly Sending[]): Promise<Verdict> => {
      for (const sending of sendings) {
        const fault = findFault(await sendEvent(settings, sending));
        if (fault !== null) return failed(id, fault);
      }
      return passed(id);
    };
  const takes = makeCheck(findRefusal);
  const refuses = makeCheck(findConfirmation);
  const first = await takes("webhook-signed", [{}]);
  if (first.outcome === "failed")
    return ids.map((id) => (id === "webhook-signed" ? first : skipped(id, "A correct event is not confirmed.")));

  const tenMinutesAgo = new Date(Date.now() - tenMinutesMs);
  const person = randomUUID();
  const messageId = randomUUID();
  const honest = JSON.stringify(personEvent("update"));
  const unsigned = { "X-EP-Signature-Sha256": null, "webhook-signature": null };
  const emptied = { "X-EP-Signature-Sha256": "", "webhook-signature": "" };
  return [
    first,
    await takes("webhook-raw-body", [{ body: spaceOut(personEvent("update")) }]),
    await refuses("webhook-signature-wrong", [{ secrets: [stranger] }]),
    await refuses("webhook-body-changed", [
      { body: honest, sentBody: JSON.stringify(personEvent("delete")) },
      { body: honest, sentBody: `${honest} ` },
    ]),
    await refuses("webhook-signature-missing", [{ headers: unsigned }, { headers: emptied }]),
    await refuses("webhook-timestamp-old", [
      { signedAt: tenMinutesAgo },
      { signedAt: tenMinutesAgo, headers: { "X-EP-Signature-Sha256": null } },
    ]),
    await takes("webhook-duplicate", [
      { messageId, event: personEvent("update", person) },
      { messageId, event: personEvent("update", person) },
    ]),
    await takes("webhook-order", [
      ...["create", "update", "delete", "restore"].map((action) => ({ event: personEvent(action, person) })),
      { event: personEvent("delete") },
    ]),
    await takes("webhook-unknown-event", [
      { type: "licence", event: { event: "licence", action: "renew", licenceId: randomUUID() } },
      { event: personEvent("rename") },
    ]),
    await takes("webhook-unknown-property", [
      { event: { ...personEvent("update"), updatedProperties: ["name", "shoeSize"], reason: { code: 7 } } },
    ]),
    await takes("webhook-several-signatures", [{ secrets: [stranger, settings.secret] }]),
    settings.newSecret === undefined
      ? skipped("webhook-rotated-secret", "Give --webhook-new-secret to try it.")
      : await takes("webhook-rotated-secret", [
          { secrets: [settings.newSecret, settings.secret] },
          { secrets: [settings.newSecret] },
        ]),
  ];
}

/** The same JSON with spaces, line ends and escapes that no JSON writer makes by itself. */
const spaceOut = (event: object): string =>
  `${JSON.stringify(event, null, 3).replaceAll("\n", "\r\n").replace('"person"', '"\\u0070erson"')}\n`;

export async function sendEvent(
  { url, secret, patienceMs = servicePatienceMs }: WebhookSettings,
  sending: Sending,
): Promise<Answered> {
  const { event = personEvent("update"), type = "person", secrets = [secret], signedAt = new Date() } = sending;
  const body = sending.body ?? JSON.stringify(event);
  const signed = signEvent({ messageId: sending.messageId ?? randomUUID(), eventType: type, body }, secrets, signedAt);
  const sent = Object.entries({ ...signed, ...sending.headers });
  const headers = sent.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers,
      body: sending.sentBody ?? body,
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
    });
    await answer.arrayBuffer();
    return { status: answer.status, error: null };
  } catch (error) {
    return { status: null, error: reasonOf(error) };
  }
}

export const findRefusal = ({ status, error }: Answered): string | null =>
  status === null ? `No answer: ${error}.` : status >= 200 && status < 300 ? null : `The answer was ${status}.`;

/** A failure of the app is no refusal: it may come from something else than the check. */
function findConfirmation({ status, error }: Answered): string | null {
  if (status === null) return `No answer: ${error}.`;
  return status >= 400 && status < 500 ? null : `The answer was ${status}, not a refusal with 4xx.`;
}
