import { setTimeout as sleep } from "node:timers/promises";

export type Latencies = { token: number[]; read: number[]; "sign-on": number[] };

const pauseMs = 25;

/** Asks a service for a token, a record and a whole sign-on in turns, one request at a time, until `done`. */
export async function probe(
  url: string,
  {
    basic,
    school,
    signOns,
    done,
  }: { basic: string; school: string; signOns: readonly (() => Promise<void>)[]; done: AbortSignal },
): Promise<Latencies> {
  const found: Latencies = { token: [], read: [], "sign-on": [] };
  let token = await askToken();
  while (!done.aborted) {
    token = await timed(found.token, askToken);
    await timed(found.read, readSchool);
    await timed(found["sign-on"], signOns[found["sign-on"].length % signOns.length]!);
    await sleep(pauseMs);
  }
  return found;

  async function askToken(): Promise<string> {
    const answer = await fetch(`${url}/oauth2/token`, {
      method: "POST",
      headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials&scope=urn:schultor:idm:v1:schools:read",
    });
    if (answer.status !== 200) throw new Error(`token: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { access_token: string }).access_token;
  }
  async function readSchool(): Promise<void> {
    const answer = await fetch(`${url}/idm/ep/v1/schools/${school}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Error(`read: ${answer.status}`);
    await answer.arrayBuffer();
  }
}

async function timed<T>(into: number[], ask: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const answer = await ask();
  into.push(performance.now() - began);
  return answer;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
