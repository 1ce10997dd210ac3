import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { components } from "../../../../generated/openapi/idm.ts";
import { erasureChecks, failed, skipped, verdictOf, type Verdict } from "./checks.ts";
import { findRefusal, sendEvent, type WebhookSettings } from "./webhook.ts";

type Schemas = components["schemas"];
type Erasure = Schemas["Erasure"];
type PendingErasure = Erasure & { busyAnswers: number };

const path = "/idm/ep/v1/erasures";
const outcomes = Object.keys({ erased: true, kept: true } satisfies Record<Schemas["ErasureOutcome"]["outcome"], true>);
const reasons = Object.keys({ legal_obligation: true, legal_claims: true, own_contract: true } satisfies Record<
  Schemas["ErasureReason"],
  true
>);

export type ErasureApi = {
  /** Asks to erase somebody; the first `busyAnswers` confirmations get 503. */
  ask(busyAnswers?: number): PendingErasure;
  /** False for another address. */
  answer(req: IncomingMessage, res: ServerResponse): Promise<boolean>;
  /** Says what was wrong with the last request since `ask`; null if nothing was wrong or no request came. */
  findFault(): string | null;
};

const send = (res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void =>
  void res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));

/** The operations of the IDM API that list the open erasures of an app and confirm one. */
export function makeErasureApi(): ErasureApi {
  const all: PendingErasure[] = [];
  let fault: string | null = null;
  const present = ({ busyAnswers: _busy, ...erasure }: PendingErasure): Erasure => erasure;
  const refuse = (res: ServerResponse, status: number, code: string, message: string, headers = {}): void => {
    fault = message;
    send(res, status, { status, code, message, requestId: randomUUID() }, headers);
  };

  async function acknowledge(id: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    const erasure = all.find((one) => one.id === id);
    if (erasure === undefined) return refuse(res, 404, "erasure_not_found", describeUnknown(all, id));
    if (erasure.busyAnswers-- > 0)
      return refuse(res, 503, "unavailable", "The confirmation got 503 with Retry-After, and was not repeated.", {
        "Retry-After": "1",
      });
    fault = findOutcomeFault(body);
    if (fault !== null) return refuse(res, 400, "invalid_request", fault);
    const { outcome, reason } = JSON.parse(body) as Schemas["ErasureOutcome"];
    Object.assign(erasure, { state: outcome, acknowledgedAt: new Date().toISOString(), ...(reason && { reason }) });
    send(res, 200, present(erasure));
  }

  return {
    ask(busyAnswers = 0) {
      const [id, personId, askedAt] = [randomUUID(), randomUUID(), new Date().toISOString()];
      const open = { id, personId, cause: "deleted", state: "open", askedAt, acknowledgedAt: null } as const;
      const erasure: PendingErasure = { ...open, busyAnswers };
      all.push(erasure);
      fault = null;
      return erasure;
    },
    async answer(req, res) {
      const { pathname } = new URL(req.url ?? "/", "http://localhost");
      if (pathname !== path && !pathname.startsWith(`${path}/`)) return false;
      const [request, allowed] = [`${req.method} ${pathname}`, pathname === path ? "GET" : "POST"];
      if (!/^bearer ./i.test(req.headers.authorization ?? ""))
        refuse(res, 401, "missing_token", `${request} was sent without a token of the app (Authorization: Bearer …).`);
      else if (req.method !== allowed)
        refuse(res, 405, "method_not_allowed", `${request} is not in the contract: send ${allowed}.`, {
          Allow: allowed,
        });
      else if (pathname === path) send(res, 200, all.filter(({ state }) => state === "open").map(present));
      else await acknowledge(pathname.slice(path.length + 1), req, res);
      return true;
    },
    findFault: () => fault,
  };
}

const describeUnknown = (all: readonly Erasure[], id: string): string =>
  all.some(({ personId }) => personId === id)
    ? `POST ${path}/${id} has the personId of an erasure in place of its id, which the event calls erasureId.`
    : `POST ${path}/${id} was sent. There is no such erasure: its id is erasureId of the event, and id in the list.`;

function findOutcomeFault(body: string): string | null {
  let confirmation: { outcome?: unknown; reason?: unknown } | null;
  try {
    confirmation = JSON.parse(body) as typeof confirmation;
  } catch {
    return "The body of the confirmation was no JSON.";
  }
  const { outcome, reason } = confirmation ?? {};
  if (!outcomes.includes(outcome as string)) return `outcome was neither ${outcomes.join(" nor ")}.`;
  if (outcome === "erased") return reason === undefined ? null : "reason was given, although everything was erased.";
  return reasons.includes(reason as string) ? null : `reason was none of ${reasons.join(", ")}.`;
}

const confirmPatienceMs = 15_000;

type Settings = { api: ErasureApi; webhook: WebhookSettings; patienceMs?: number };

/** Sends the app an event that asks it to erase an unknown person, and waits for the confirmation. */
export async function checkErasures({ api, webhook, patienceMs = confirmPatienceMs }: Settings): Promise<Verdict[]> {
  const first = await findConfirmFault(api, { webhook, patienceMs, busyAnswers: 0 });
  if (first !== null)
    return [failed("erasure-confirmed", first), skipped("erasure-repeated", "No erasure was confirmed.")];
  const repeated = await findConfirmFault(api, { webhook, patienceMs, busyAnswers: 1 });
  return [verdictOf("erasure-confirmed", null), verdictOf("erasure-repeated", repeated)];
}

/** Sends the event of a deletion, again for each busy answer, until the app confirms. Returns null if it did. */
async function findConfirmFault(
  api: ErasureApi,
  { webhook, patienceMs, busyAnswers }: Omit<Required<Settings>, "api"> & { busyAnswers: number },
): Promise<string | null> {
  const erasure = api.ask(busyAnswers);
  const { id: erasureId, personId } = erasure;
  let refusal: string | null = null;
  for (let sent = 0; sent <= busyAnswers; sent++) {
    const event = { event: "person", action: "delete", personId, erasureId };
    refusal = findRefusal(await sendEvent(webhook, { event }));
    for (const end = Date.now() + patienceMs; Date.now() < end && erasure.state === "open";) await sleep(50);
    if (erasure.state !== "open") return null;
  }
  const nothing = `Nothing came to POST ${path}/${erasureId} within ${patienceMs / 1000} s of the event.`;
  return api.findFault() ?? (refusal === null ? nothing : `${nothing} ${refusal}`);
}

export const skipErasures = (why: string): Verdict[] =>
  (Object.keys(erasureChecks) as (keyof typeof erasureChecks)[]).map((id) => skipped(id, why));
