import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../check-app/browser.ts";
import { NotAsked, Unusable, type Findings } from "./findings.ts";
import { JsonFault, makeItemReader } from "./json-items.ts";
import { textAt } from "./record.ts";
import { listPath, pairsOf, type Sent } from "./request.ts";

export type Limits = { patienceMs: number; listMs: number; listBytes: number; bodyBytes: number };
export const usualLimits: Limits = { patienceMs: 30_000, listMs: 900_000, listBytes: 1e9, bodyBytes: 1e6 };

export type Answer = { status: number; headers: Headers; text: string };
export type OnRecord = (record: unknown, position: number) => void;
export type Send = (sent: Sent, onRecord?: OnRecord) => Promise<Answer>;

/** The answer for readers: nothing of its body but a subcode. */
export function tell({ status, text }: Answer): string {
  const subcode = textAt(parse(text), "subcode");
  return /^\d\d$/.test(subcode) ? `${status}, subcode ${subcode}` : String(status);
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Settings = {
  address: string;
  limits: Limits;
  findings: Findings;
  getAppToken(): Promise<string>;
  /** Is told of each answer, of a list without its records. */
  observe(sent: Sent, answer: Answer): void;
};

const mostSilences = 2;
const [mostTries, longestPauseSeconds] = [3, 60];

/**
 * Makes what sends requests. It follows no redirect and neither waits nor reads without an end; with `onRecord` it
 * reads a list, of which it holds one record at a time.
 *
 * Errors: Unusable; NotAsked.
 */
export function makeSend({ address, limits, findings, getAppToken, observe }: Settings): Send {
  let silences = 0;
  async function exchange(sent: Sent, onRecord?: OnRecord): Promise<Answer> {
    if (silences >= mostSilences) throw new NotAsked();
    const url = sent.url ?? `${address}/${sent.path ?? listPath}?${new URLSearchParams(pairsOf(sent)).toString()}`;
    const headers = new Headers({ Accept: "application/json", ...sent.headers });
    const authorization = sent.by === undefined ? `Bearer ${await getAppToken()}` : sent.by.authorization;
    if (authorization !== null) headers.set("Authorization", authorization);
    const stop = new AbortController();
    const abortAfter = (ms: number, came: string) =>
      setTimeout(() => stop.abort(new Unusable(`${came} ${ms / 1000} s`)), ms);
    const whole = abortAfter(limits.listMs, "not complete after");
    const next = abortAfter(limits.patienceMs, "nothing for");
    const init: RequestInit = { method: sent.method ?? "GET", headers, redirect: "manual", signal: stop.signal };
    try {
      const response = await fetch(url, sent.form === undefined ? init : { ...init, body: sent.form });
      findings.judge("no-redirect", sent, tellRedirect(response, url));
      const items = onRecord !== undefined && response.status === 200 ? makeItemReader(onRecord) : null;
      const kept: Uint8Array[] = [];
      let total = 0;
      for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        next.refresh();
        total += bytes.length;
        items?.push(bytes);
        if (items !== null && total > limits.listBytes) throw new Unusable(`more than ${limits.listBytes / 1e6} MB`);
        if (items === null) kept.push(bytes);
        // Of what is no list, the beginning is enough.
        if (items === null && total > limits.bodyBytes) break;
      }
      items?.end();
      findings.judge("in-time", sent, null);
      return { status: response.status, headers: response.headers, text: Buffer.concat(kept).toString() };
    } catch (error) {
      const isJson = error instanceof JsonFault;
      if (!isJson) silences += 1;
      const came = reasonOf(error);
      findings.judge(isJson ? "list-read" : "in-time", sent, came);
      throw new Unusable(came);
    } finally {
      clearTimeout(whole);
      clearTimeout(next);
      stop.abort();
    }
  }

  return async (sent, onRecord) => {
    for (let tries = 1; ; tries++) {
      const answer = await exchange(sent, onRecord);
      const seconds = Number(answer.headers.get("retry-after") ?? NaN);
      const isBusy = [429, 503].includes(answer.status) && tries < mostTries && seconds <= longestPauseSeconds;
      if (!isBusy && sent.url === undefined) observe(sent, answer);
      if (!isBusy) return answer;
      await sleep(seconds * 1000);
    }
  };
}

function tellRedirect({ status, headers }: Response, from: string): string | null {
  if (status < 300 || status > 399 || status === 304) return null;
  const location = headers.get("location") ?? "";
  const { origin } = new URL(from);
  const isSame = URL.canParse(location, from) && new URL(location, from).origin === origin;
  return `${status}, a redirect to ${isSame ? "the same host" : "another host"}, which was not followed`;
}
