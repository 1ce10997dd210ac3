import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { exchange, getAppToken, postToken, signOn, type TestApp } from "../../support/token.ts";
import type { Acknowledged, PersonRecord } from "./contents.ts";
import { watchRecovery, type CallKind, type Recovery } from "./recovery.ts";
import { watchServerErrors, type ServerErrors } from "./server-errors.ts";
import type { World } from "./world.ts";

/** What came of requests. Shape: `busy` counts 429 and 503, `broken` other answers of 5xx, `cut` connections. */
export type Outcomes = { ok: number; busy: number; cut: number; broken: number; longestMs: number };
export const noOutcomes = (): Outcomes => ({ ok: 0, busy: 0, cut: 0, broken: 0, longestMs: 0 });

export type Load = {
  /** Counts from here on in another place. */
  countIn(outcomes: Outcomes): void;
  recovery: Recovery;
  serverErrors: ServerErrors;
  /** Every person whose making was acknowledged, and not their deletion. */
  acknowledged: Map<string, Acknowledged>;
  /** Every person whose deletion was acknowledged. */
  deleted: Set<string>;
  wrongs: string[];
  /** What calls ended with that got no answer, or one that tells of a failure of the service. */
  thrown: Set<string>;
  /** How many codes were redeemed, how many refresh tokens. */
  used: { codes: number; refreshes: number };
  stop(): Promise<void>;
};

type Answer = { status: number; body: unknown };

const pauseMs = 60;
const isAnswer = (status: number): boolean => status > 0 && status < 429;

/** Changes, reads, sign-ons and refreshes, each one after the other, at any of the addresses. */
export function startLoad(world: World, pick: () => string): Load {
  let [outcomes, isEnding] = [noOutcomes(), false];
  const [acknowledged, deleted] = [new Map<string, Acknowledged>(), new Set<string>()];
  const [wrongs, used] = [[] as string[], { codes: 0, refreshes: 0 }];
  const [tokens, thrown] = [new Map<string, string>(), new Set<string>()];
  const [recovery, serverErrors] = [watchRecovery(), watchServerErrors()];

  /** Asks until there is an answer of the service's own; the last one when the load ends. */
  async function ask(kind: CallKind, path: string, init: RequestInit & { as: TestApp }): Promise<Answer> {
    for (;;) {
      const began = performance.now();
      const answer = await askOnce(path, init);
      const hasSucceeded = answer !== null && isAnswer(answer.status);
      outcomes.longestMs = Math.max(outcomes.longestMs, performance.now() - began);
      recovery.note(kind, began, hasSucceeded);
      if (hasSucceeded || isEnding) return answer ?? { status: 0, body: null };
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
      count(response, path);
      if (response.status === 401) tokens.delete(as.clientId);
      return response.status === 401
        ? null
        : { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
    } catch (error) {
      countError(error);
      return null;
    }
  }

  function count({ status, headers }: { status: number; headers: Headers }, path: string): void {
    if (status < 429) outcomes.ok += 1;
    else if (status === 429 || status === 503) {
      outcomes.busy += 1;
      if (!headers.has("retry-after"))
        wrongs.push(`${status} of ${path.replace(/[0-9a-f-]{36}/g, "…")} without Retry-After`);
    } else {
      outcomes.broken += 1;
      wrongs.push(`${status} of ${path.replace(/[0-9a-f-]{36}/g, "…")}`);
    }
  }

  function countToken(answer: Awaited<ReturnType<typeof postToken>>, askedAt: number): void {
    if (answer.body.error === "server_error") serverErrors.note(askedAt, answer.body.error_description ?? "");
    else count(answer, "/oauth2/token");
  }

  /** Of a call that throws on anything but success: the token endpoint says so in the message. */
  const countError = (error: unknown): undefined => {
    if (/503|temporarily_unavailable|unavailable|busy/.test(String(error))) outcomes.busy += 1;
    else {
      outcomes.cut += 1;
      thrown.add(`${String(error)} ${inspect((error as Error).cause, { depth: 0 })}`);
    }
  };

  async function change(n: number): Promise<void> {
    const name = { firstFull: "Ada", firstCall: "Ada", last: `Nr ${n}` };
    const made = await ask("change", "/admin/v1/people", {
      as: world.staff,
      method: "POST",
      headers: { "idempotency-key": randomUUID() },
      body: JSON.stringify({ schoolIds: [world.school], role: "STUDENT", name, groupIds: [world.group] }),
    });
    if (!isAnswer(made.status)) return;
    const record = made.body as Partial<PersonRecord>;
    const { id } = record;
    if (id === undefined) {
      wrongs.push(`${made.status} instead of a person: ${JSON.stringify(made.body)}`);
      return;
    }
    acknowledged.set(id, { record: { ...record, id }, unanswered: [] });
    if (n % 4 === 0) await softDelete(id);
    if (n % 4 === 1) await rename(id, { ...name, firstCall: "Bo" });
  }

  async function rename(id: string, name: object): Promise<void> {
    const kept = acknowledged.get(id)!;
    kept.unanswered.push({ name });
    const renamed = await ask("change", `/admin/v1/people/${id}`, {
      as: world.staff,
      method: "PATCH",
      body: JSON.stringify({ name }),
    });
    if (renamed.status === 204) acknowledged.set(id, { record: { ...kept.record, name }, unanswered: [] });
    else if (isAnswer(renamed.status)) wrongs.push(`${renamed.status} of the renaming of an acknowledged person`);
  }

  async function softDelete(id: string): Promise<void> {
    const gone = await ask("change", `/admin/v1/people/${id}/soft-deletion`, {
      as: world.staff,
      method: "POST",
      headers: { "idempotency-key": randomUUID() },
    });
    // Without an answer nobody knows whether the person is there.
    if (gone.status !== 404) acknowledged.delete(id);
    if (gone.status >= 200 && gone.status < 300) deleted.add(id);
  }

  async function signOnOnce(n: number): Promise<void> {
    const began = performance.now();
    const token = await signOnWith(n % 2 === 0 ? 3 : 1).catch((error: unknown) => {
      countError(error);
      return null;
    });
    recovery.note("sign-on", began, token !== null);
    if (token !== null && n % 2 !== 0) await refresh(token);
  }

  /** Shape: answers the refresh token. A code that is used again ends what it gave. */
  async function signOnWith(uses: number): Promise<string | null> {
    const signedOn = await signOn({ url: pick() }, world.app, world.login, { scopes: ["openid", "offline_access"] });
    if (!signedOn.back.searchParams.has("code")) {
      outcomes.busy += 1;
      return null;
    }
    const askedAt = performance.now();
    const ask = () => exchange({ url: pick() }, world.app, signedOn).catch(countError);
    const answers = (await Promise.all(Array.from({ length: uses }, ask))).filter((answer) => answer !== undefined);
    for (const answer of answers) countToken(answer, askedAt);
    const redeemed = answers.filter(({ status }) => status === 200);
    used.codes += redeemed.length;
    if (redeemed.length > 1) wrongs.push("a code was redeemed twice");
    return redeemed[0]?.body.refresh_token ?? null;
  }

  async function refresh(token: string): Promise<void> {
    const began = performance.now();
    const fields = { grant_type: "refresh_token", refresh_token: token };
    const answer = await postToken({ url: pick() }, world.app, fields).catch(countError);
    recovery.note("refresh", began, answer?.status === 200);
    if (answer === undefined) return;
    if (answer.status === 200) used.refreshes += 1;
    const isFinal = answer.status === 400 && answer.body.error !== "server_error";
    if (isFinal) wrongs.push(`a refresh token that was never used: ${JSON.stringify(answer.body)}`);
    countToken(answer, began);
  }

  const repeat = async (work: (n: number) => Promise<unknown>) => {
    for (let n = 1; !isEnding; n++) {
      await work(n);
      await sleep(pauseMs);
    }
  };
  const read = () => ask("read", `/idm/ep/v1/schools/${world.school}/people`, { as: world.app });
  const loops = [repeat(change), repeat(change), repeat(read), repeat(signOnOnce)];
  return {
    countIn: (next) => void (outcomes = next),
    recovery,
    serverErrors,
    acknowledged,
    deleted,
    wrongs,
    thrown,
    used,
    async stop() {
      isEnding = true;
      await Promise.all(loops);
    },
  };
}
