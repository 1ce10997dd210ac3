import { setTimeout as wait } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../../../generated/openapi/admin.ts";
import { AppError, errorKindOf } from "../../platform/errors.ts";
import type { Fetch } from "./discovery.ts";
import { actorOf, makeTokenSource, type Credentials, type TokenSource } from "./token.ts";

const mostTries = 5;
const longestWaitSeconds = 60;

type Send = (request: Request) => Promise<Response>;

async function sendOnce(request: Request): Promise<Response> {
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

const patiently =
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
const withToken =
  (send: Send, token: TokenSource): Send =>
  async (request) => {
    const sendWithToken = async () => {
      const authorized = request.clone();
      authorized.headers.set("Authorization", `Bearer ${await token.get()}`);
      return send(authorized);
    };
    const response = await sendWithToken();
    if (response.status !== 401) return response;
    await response.body?.cancel();
    token.drop();
    return sendWithToken();
  };

type Problem = { message?: unknown; code?: unknown; requestId?: unknown };

export async function readRefusal(response: Response): Promise<AppError> {
  const { message, code, requestId } = ((await response.json().catch(() => null)) ?? {}) as Problem;
  const said = typeof message === "string" ? message : `The service answered ${response.status}.`;
  const number = response.status >= 500 && typeof requestId === "string" ? ` Request: ${requestId}` : "";
  const kind = errorKindOf(response.status) ?? (response.status < 500 ? "invalid" : "bug");
  return new AppError(kind, typeof code === "string" ? code : "failed", `${said}${number}`);
}

export const makeFetch = (tell: (line: string) => void): Fetch => {
  const send = patiently(sendOnce, tell);
  return (url, init) => send(new Request(url, { redirect: "error", ...init }));
};

/** Makes a client for a remote service. Nothing is sent before the first call; the first change names the service. */
export function connectRemote(remote: Credentials, tell: (line: string) => void): Client<paths> {
  const send = patiently(sendOnce, tell);
  const token = makeTokenSource(remote, makeFetch(tell));
  const call = withToken(send, token);
  let told = false;
  return createClient<paths>({
    baseUrl: remote.address,
    redirect: "error",
    fetch: async (request) => {
      if (request.method !== "GET" && !told) tell(`At ${remote.address}, as ${actorOf(remote)}:`);
      told ||= request.method !== "GET";
      const response = await call(request);
      if (!response.ok) throw await readRefusal(response);
      return response;
    },
  });
}
