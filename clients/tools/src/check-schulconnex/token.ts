import { randomBytes } from "node:crypto";
import { NotAsked, type Findings } from "./findings.ts";
import { parse, type Send } from "./provider.ts";
import { at, textAt } from "./record.ts";
import type { Sent } from "./request.ts";

type Secret = {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string | undefined;
  isPosted: boolean;
};

/** How the app gets tokens, or one that it has. */
export type Credentials = { token: string } | Secret;

export type Token = { get(): Promise<string>; secrets: readonly string[]; checkRefusal: (() => Promise<void>) | null };

const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);

function makeRequest({ tokenUrl, clientId, scope, isPosted }: Secret, secret: string, label: string): Sent {
  const basic = `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}`;
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) form.set("scope", scope);
  if (isPosted) form.set("client_id", clientId);
  if (isPosted) form.set("client_secret", secret);
  return { url: tokenUrl, method: "POST", by: { label, authorization: isPosted ? null : basic }, form };
}

/** Gets tokens of the app, a new one before the last one ends. */
export function makeToken(credentials: Credentials, findings: Findings, send: () => Send): Token {
  if ("token" in credentials) {
    const ids = ["token-issued", "token-refused", "token-in-query"] as const;
    findings.note("not checked", "A token was given in place of credentials.", ...ids);
    return { get: async () => credentials.token, secrets: [credentials.token], checkRefusal: null };
  }
  const secrets = [credentials.clientSecret];
  let current: { endsAt: number; token: string } | null = null;
  let isRefused = false;
  const renew = async (): Promise<string> => {
    const sent = makeRequest(credentials, credentials.clientSecret, "with the credentials");
    const { status, headers, text } = await send()(sent);
    const body = parse(text);
    const token = status === 200 ? textAt(body, "access_token") : "";
    const isBearer = /^bearer$/i.test(textAt(body, "token_type"));
    const isUnstored = /\bno-store\b/i.test(headers.get("cache-control") ?? "");
    const lacking = token === "" ? "access_token" : !isBearer ? "token_type Bearer" : "Cache-Control: no-store";
    findings.judge("token-issued", sent, token && isBearer && isUnstored ? null : `${status}, without ${lacking}`);
    isRefused = token === "";
    if (isRefused) throw new NotAsked();
    current = { token, endsAt: Date.now() + 800 * (Number(at(body, "expires_in")) || 3600) };
    secrets[1] = token;
    return token;
  };
  return {
    secrets,
    async get(): Promise<string> {
      if (isRefused) throw new NotAsked();
      return current !== null && current.endsAt > Date.now() ? current.token : renew();
    },
    async checkRefusal(): Promise<void> {
      const sent = makeRequest(credentials, randomBytes(24).toString("hex"), "with a wrong secret");
      const { status, text } = await send()(sent);
      const isRefusal = [400, 401].includes(status) && at(parse(text), "error") === "invalid_client";
      findings.judge("token-refused", sent, isRefusal ? null : String(status));
    },
  };
}
