import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { components } from "../../../generated/openapi/idm.ts";
import { valuesOf } from "../../platform/contract-types.ts";
import { erasureChecks, failed, skipped, verdictOf, type Verdict } from "./checks.ts";
import { sendEvent, type WebhookSettings } from "./webhook.ts";

type Schemas = components["schemas"];
type Erasure = Schemas["Erasure"];
type Asked = Erasure & { busyAnswers: number; fault: string | null };

const path = "/idm/ep/v1/erasures";
const outcomes = valuesOf<Schemas["ErasureOutcome"]["outcome"]>({ erased: true, kept: true });
const reasons = valuesOf<Schemas["ErasureReason"]>({ legal_obligation: true, legal_claims: true, own_contract: true });

export type ErasureApi = {
  /** Asks to erase somebody; the first `busyAnswers` confirmations get 503. */
  ask(busyAnswers?: number): Asked;
  /** False for another address. */
  answer(req: IncomingMessage, res: ServerResponse): Promise<boolean>;
};

const send = (res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void =>
  void res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));

const problem = (status: number, code: string) => ({ status, code, message: code, requestId: randomUUID() });

/** The part of the IDM API by which an app learns whom it must erase, and confirms it. */
export function makeErasureApi(): ErasureApi {
  const all: Asked[] = [];
  const present = ({ busyAnswers: _busy, fault: _fault, ...erasure }: Asked): Erasure => erasure;

  async function acknowledge(erasure: Asked | undefined, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    if (erasure === undefined) return send(res, 404, problem(404, "erasure_not_found"));
    if (erasure.busyAnswers-- > 0) return send(res, 503, problem(503, "unavailable"), { "Retry-After": "1" });
    erasure.fault = findOutcomeFault(body);
    if (erasure.fault !== null) return send(res, 400, problem(400, "invalid_request"));
    const { outcome, reason } = JSON.parse(body) as Schemas["ErasureOutcome"];
    Object.assign(erasure, { state: outcome, acknowledgedAt: new Date().toISOString(), ...(reason && { reason }) });
    send(res, 200, present(erasure));
  }

  return {
    ask(busyAnswers = 0) {
      const [id, personId, askedAt] = [randomUUID(), randomUUID(), new Date().toISOString()];
      const erasure: Asked = {
        id,
        personId,
        cause: "deleted",
        state: "open",
        askedAt,
        acknowledgedAt: null,
        busyAnswers,
        fault: null,
      };
      all.push(erasure);
      return erasure;
    },
    async answer(req, res) {
      const { pathname } = new URL(req.url ?? "/", "http://localhost");
      if (pathname !== path && !pathname.startsWith(`${path}/`)) return false;
      if (!/^bearer ./i.test(req.headers.authorization ?? "")) send(res, 401, problem(401, "missing_token"));
      else if (req.method === "GET" && pathname === path)
        send(res, 200, all.filter(({ state }) => state === "open").map(present));
      else if (req.method === "POST")
        await acknowledge(
          all.find(({ id }) => pathname === `${path}/${id}`),
          req,
          res,
        );
      else send(res, 405, problem(405, "method_not_allowed"), { Allow: pathname === path ? "GET" : "POST" });
      return true;
    },
  };
}

function findOutcomeFault(body: string): string | null {
  let given: { outcome?: unknown; reason?: unknown } | null;
  try {
    given = JSON.parse(body) as typeof given;
  } catch {
    return "The body of the confirmation was no JSON.";
  }
  const { outcome, reason } = given ?? {};
  if (!outcomes.some((one) => one === outcome)) return `outcome was neither ${outcomes.join(" nor ")}.`;
  if (outcome === "erased") return reason === undefined ? null : "reason was given, although everything was erased.";
  return reasons.some((one) => one === reason) ? null : `reason was none of ${reasons.join(", ")}.`;
}

const confirmPatienceMs = 15_000;

type Settings = { api: ErasureApi; webhook: WebhookSettings; patienceMs?: number };

/** Asks the app by event to erase somebody whom it does not know, and waits for the confirmation. */
export async function checkErasures({ api, webhook, patienceMs = confirmPatienceMs }: Settings): Promise<Verdict[]> {
  const first = await findConfirmFault(api.ask(), { webhook, patienceMs, events: 1 });
  if (first !== null)
    return [failed("erasure-confirmed", first), skipped("erasure-repeated", "No erasure was confirmed.")];
  const repeated = await findConfirmFault(api.ask(1), { webhook, patienceMs, events: 2 });
  return [verdictOf("erasure-confirmed", null), verdictOf("erasure-repeated", repeated)];
}

/** Sends up to `events` events of the deletion until the app confirms; null once it has. */
async function findConfirmFault(
  erasure: Asked,
  { webhook, patienceMs, events }: Omit<Required<Settings>, "api"> & { events: number },
): Promise<string | null> {
  const { id: erasureId, personId } = erasure;
  for (let sent = 0; sent < events; sent++) {
    await sendEvent(webhook, { event: { event: "person", action: "delete", personId, erasureId } });
    for (const end = Date.now() + patienceMs; Date.now() < end && erasure.state === "open";) await sleep(50);
    if (erasure.state !== "open") return null;
  }
  return erasure.fault ?? `Nothing came to POST ${path}/${erasureId} within ${patienceMs / 1000} s of the event.`;
}

export const skipErasures = (why: string): Verdict[] =>
  (Object.keys(erasureChecks) as (keyof typeof erasureChecks)[]).map((id) => skipped(id, why));
