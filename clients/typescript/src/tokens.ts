import { readTokenError, TokenError } from "./errors.ts";
import { abortable, type Send } from "./retry.ts";

export type Credentials = {
  /** The address of the service, as in its discovery document, such as `https://login.example.org`. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The scopes of every token, such as `urn:schultor:idm:v1:people:read`. */
  scopes: readonly string[];
};

export type Tokens = {
  get(signal: AbortSignal): Promise<string>;
  /** The service refused this token; the next caller gets another one. */
  forget(token: string): void;
};

type Token = { value: string; renewAt: number };

/** Tokens of the app itself: one for all calls, fetched once for all who wait for it, renewed before it ends. */
export function makeTokens({ issuer, clientId, clientSecret, scopes }: Credentials, send: Send): Tokens {
  let current: Token | null = null;
  let pending: Promise<Token> | null = null;
  const endpoint = `${issuer.replace(/\/$/, "")}/oauth2/token`;

  async function fetchToken(): Promise<Token> {
    const headers = { authorization: `Basic ${btoa(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`)}` };
    const body = new URLSearchParams({ grant_type: "client_credentials", scope: scopes.join(" ") });
    const response = await send(new Request(endpoint, { method: "POST", headers, body }));
    if (!response.ok) throw await readTokenError(response);
    return readToken(response);
  }

  async function renew(): Promise<Token> {
    try {
      return (current = await fetchToken());
    } finally {
      pending = null;
    }
  }

  return {
    async get(signal) {
      signal.throwIfAborted();
      if (current && Date.now() < current.renewAt) return current.value;
      pending ??= renew();
      return (await abortable(pending, signal)).value;
    },
    forget(token) {
      if (current?.value === token) current = null;
    },
  };
}

async function readToken(response: Response): Promise<Token> {
  const { status } = response;
  const requestId = response.headers.get("x-request-id");
  const { access_token: value, expires_in: seconds = Infinity } = (await response.json().catch(() => ({}))) as {
    access_token?: string;
    expires_in?: number;
  };
  if (typeof value !== "string") {
    const message = "The answer of the token endpoint holds no access token.";
    throw new TokenError({ status, code: "no_access_token", message, requestId, retryAfterMs: null });
  }
  // A tenth of its life before its end, at most a minute.
  return {
    value,
    renewAt: Date.now() + (seconds === Infinity ? seconds : seconds - Math.min(60, seconds / 10)) * 1000,
  };
}

/** As RFC 6749 section 2.3.1 wants id and secret before they are joined. */
const encodeForm = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
