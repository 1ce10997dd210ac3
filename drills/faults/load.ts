import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, getAppToken, postToken, signOn, type TestApp } from "../../test/support/token.ts";
import type { World } from "./world.ts";

/** What came of requests. Shape: `busy` counts 429 and 503, `broken` other answers of 5xx, `cut` connections. */
export type Outcomes = { ok: number; busy: number; cut: number; broken: number; longestMs: number };
export const noOutcomes = (): Outcomes => ({ ok: 0, busy: 0, cut: 0, broken: 0, longestMs: 0 });

export type Load = {
  /** Counts from here on in another place. */
  countIn(outcomes: Outcomes): void;
  /** Every person whose making was acknowledged, and not their deletion. */
  acknowledged: Set<string>;
  wrongs: string[];
  /** How many codes were redeemed, how many refresh tokens. */
  used: { codes: number; refreshes: number };
  stop(): Promise<void>;
};

const pauseMs = 60;
const isAnswer = (status: number): boolean => status > 0 && status < 429;

/** Changes, reads, sign-ons and refreshes, each one after the other, at any of the addresses. */
export function startLoad(world: World, pick: () => string): Load {
  let [outcomes, isEnding] = [noOutcomes(), false];
  const [acknowledged, wrongs, used] = [new Set<string>(), [] as string[], { codes: 0, refreshes: 0 }];
  const tokens = new Map<string, string>();

  /** Asks until there is an answer of the service's own; the last one when the load ends. */
  async function ask(path: string, init: RequestInit & { as: TestApp }): Promise<{ status: number; body: unknown }> {
    for (;;) {
      const began = performance.now();
      const answer = await askOnce(path, init);
      outcomes.longestMs = Math.max(outcomes.longestMs, performance.now() - began);
      if ((answer !== null && isAnswer(answer.status)) || isEnding) return answer ?? { status: 0, body: null };
      await sleep(pauseMs);
    }
  }

  async function askOnce(path: string, { as, ...init }: RequestInit & { as: TestApp }) {
    try {
      const url = pick();
      const scopes = as === world.staff ? (["admin:write", "admin:read"] as const) : (["people:read"] as const);
      const token = tokens.get(as.clientId) ?? (await getAppToken({ url }, as, scopes));
      tokens.set(as.clientId, token);
      const headers = {
        "content-type": "application/json",
        ...(init.headers as object),
        authorization: `Bearer ${token}`,
      };
      const response = await fetch(url + path, { ...init, headers, signal: AbortSignal.timeout(30_000) });
      const text = await response.text();
      count(response.status, path);
      if (response.status === 401) tokens.delete(as.clientId);
      return response.status === 401
        ? null
        : { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
    } catch (error) {
      countError(error);
      return null;
    }
  }

  function count(status: number, path: string): void {
    if (status < 429) outcomes.ok += 1;
    else if (status === 429 || status === 503) outcomes.busy += 1;
    else {
      outcomes.broken += 1;
      wrongs.push(`${status} of ${path.replace(/[0-9a-f-]{36}/g, "…")}`);
    }
  }

  /** Of a call that throws on anything but success: the token endpoint says so in the message. */
  const countError = (error: unknown) => {
    if (/503|temporarily_unavailable|unavailable|busy/.test(String(error))) outcomes.busy += 1;
    else outcomes.cut += 1;
  };

  async function change(n: number): Promise<void> {
    const name = { firstFull: "Ada", firstCall: "Ada", last: `Nr ${n}` };
    const made = await ask("/admin/v1/people", {
      as: world.staff,
      method: "POST",
      headers: { "idempotency-key": randomUUID() },
      body: JSON.stringify({ schoolIds: [world.school], role: "STUDENT", name, groupIds: [world.group] }),
    });
    if (!isAnswer(made.status)) return;
    const { id } = made.body as { id?: string };
    if (id === undefined) wrongs.push(`${made.status} instead of a person: ${JSON.stringify(made.body)}`);
    else acknowledged.add(id);
    if (id === undefined || n % 4 !== 0) return;
    const gone = await ask(`/admin/v1/people/${id}/soft-deletion`, {
      as: world.staff,
      method: "POST",
      headers: { "idempotency-key": randomUUID() },
    });
    // Without an answer nobody knows whether the person is there.
    if (gone.status !== 404) acknowledged.delete(id);
  }

  async function signOnOnce(n: number): Promise<void> {
    const service = { url: pick() };
    try {
      const scopes = ["openid", "offline_access"] as const;
      const signedOn = await signOn(service, world.app, world.login, { scopes });
      if (!signedOn.back.searchParams.has("code")) return void (outcomes.busy += 1);
      // A code that is used again ends what it gave, so that only codes used once give a refresh token.
      const uses = n % 2 === 0 ? [1, 2, 3] : [1];
      const answers = await Promise.all(
        uses.map(() => exchange({ url: pick() }, world.app, signedOn).catch(() => null)),
      );
      const redeemed = answers.filter((answer) => answer?.status === 200);
      used.codes += redeemed.length;
      if (redeemed.length > 1) wrongs.push("a code was redeemed twice");
      outcomes.ok += redeemed.length;
      const token = redeemed[0]?.body.refresh_token;
      if (token !== undefined && uses.length === 1) await refresh(token);
    } catch (error) {
      countError(error);
    }
  }

  async function refresh(token: string): Promise<void> {
    const answer = await postToken({ url: pick() }, world.app, { grant_type: "refresh_token", refresh_token: token });
    if (answer.status === 200) used.refreshes += 1;
    count(answer.status, "/oauth2/token");
  }

  const repeat = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 1; !isEnding; n++) {
      await work(n);
      await sleep(pauseMs);
    }
  };
  const read = () => ask(`/idm/ep/v1/schools/${world.school}/people`, { as: world.app });
  const loops = [repeat(change), repeat(change), repeat(read), repeat(signOnOnce)];
  return {
    countIn: (next) => void (outcomes = next),
    acknowledged,
    wrongs,
    used,
    async stop() {
      isEnding = true;
      await Promise.all(loops);
    },
  };
}
