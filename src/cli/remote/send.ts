import { setTimeout as wait } from "node:timers/promises";
import { AppError, errorKindOf } from "../../platform/errors.ts";
import type { TokenSource } from "./token.ts";

const mostTries = 5;
const longestWaitSeconds = 60;

type Send = (request: Request) => Promise<Response>;

export async function sendOnce(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const reason = cause?.code ?? cause?.message ?? message;
    throw new Error(`${new URL(request.url).origin} cannot be reached: ${reason}`, { cause: error });
  }
}

/** Whether the request can be sent again if it is unknown whether it was carried out. */
const isRepeatable = ({ method, headers }: Request): boolean =>
  method === "GET" || method === "PUT" || headers.has("Idempotency-Key");

/** Units: seconds. Source: RFC 9110 section 10.2.3; a date is not sent by this service. */
function waitOf({ headers }: Response): number {
  const seconds = Number(headers.get("Retry-After") ?? 1);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : 1;
}

export const patiently =
  (send: Send, tell: (line: string) => void): Send =>
  async (request) => {
    for (let tries = 1; ; tries++) {
      const response = await send(request.clone());
      const isBusy = response.status === 429 || (response.status === 503 && isRepeatable(request));
      const seconds = waitOf(response);
      if (!isBusy || tries === mostTries || seconds > longestWaitSeconds) return response;
      await response.body?.cancel();
      if (seconds > 1) tell(`The service is busy; trying again in ${seconds} s.`);
      await wait(seconds * 1000);
    }
  };

/** Adds the token, and another one when the first was refused. */
export const withToken =
  (send: Send, token: TokenSource): Send =>
  async (request) => {
    const once = async () => {
      const authorized = request.clone();
      authorized.headers.set("Authorization", `Bearer ${await token.get()}`);
      return send(authorized);
    };
    const response = await once();
    if (response.status !== 401) return response;
    await response.body?.cancel();
    token.drop();
    return once();
  };

type Problem = { message?: unknown; code?: unknown; requestId?: unknown };

export async function readRefusal(response: Response): Promise<AppError> {
  const { message, code, requestId } = ((await response.json().catch(() => null)) ?? {}) as Problem;
  const said = typeof message === "string" ? message : `The service answered ${response.status}.`;
  const number = response.status >= 500 && typeof requestId === "string" ? ` Request: ${requestId}` : "";
  const kind = errorKindOf(response.status) ?? (response.status < 500 ? "invalid" : "bug");
  return new AppError(kind, typeof code === "string" ? code : "failed", `${said}${number}`);
}
