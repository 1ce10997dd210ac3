import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "../../support/browser.ts";
import { askFor, exchange, postToken, signOn, type SignedOn, type TokenBody } from "../../support/token.ts";
import type { World } from "../faults/world.ts";

/** Sign-ons whose steps are taken at two processes, and a session and a refresh token that outlive all of them. */
export type Crossings = {
  /** A code of one, redeemed at the other, what it gave refreshed at both, and then the code once more. */
  cross(from: string, to: string): Promise<void>;
  /** Shape: how many codes were begun at one and redeemed at another. */
  counts(): { codes: number; refreshes: number };
  wrongs: string[];
};

type Answer = { status: number; headers: Headers; body: TokenBody };

const scopes = ["openid", "offline_access", "users:read"] as const;
const busyPauseMs = 500;

export async function startCrossings(url: string, { app, login }: World): Promise<Crossings> {
  const first = await signOn({ url }, app, login, { scopes });
  const browser: Browser = first.browser;
  const [wrongs, counts] = [[] as string[], { codes: 0, refreshes: 0 }];
  const expectStatus = (what: string, { status, body }: Answer, wanted: number): boolean => {
    if (status !== wanted) wrongs.push(`${what}: ${status} ${JSON.stringify(body)}`);
    return status === wanted;
  };
  let old = (await untilFree(() => exchange({ url }, app, first))).body.refresh_token ?? "";

  const refreshAt = async (at: string, token: string) => {
    const answer = await untilFree(() =>
      postToken({ url: at }, app, { grant_type: "refresh_token", refresh_token: token }),
    );
    counts.refreshes += 1;
    return answer;
  };

  async function beginAt(at: string): Promise<SignedOn | null> {
    const asked = askFor({ url: at }, app, { scopes });
    const answer = await untilFree(() => browser.once(asked.address));
    const back = new URL(answer.headers.get("location") ?? "/", at);
    await answer.body?.cancel();
    if (back.searchParams.has("code")) return { browser, asked, back };
    wrongs.push(`no code with the session of the beginning: ${answer.status} ${back.pathname}${back.search}`);
    return null;
  }

  async function readAt(at: string, token: string): Promise<void> {
    const answer = await untilFree(() =>
      fetch(`${at}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } }),
    );
    await answer.body?.cancel();
    if (answer.status !== 200) wrongs.push(`a token of the other version: ${answer.status}`);
  }

  return {
    wrongs,
    counts: () => ({ ...counts }),
    async cross(from, to) {
      const begun = await beginAt(from);
      if (begun === null) return;
      const redeemed = await untilFree(() => exchange({ url: to }, app, begun));
      if (!expectStatus("a code of the other version", redeemed, 200)) return;
      counts.codes += 1;
      await readAt(from, redeemed.body.access_token);
      const second = await refreshAt(from, redeemed.body.refresh_token ?? "");
      if (!expectStatus("a refresh token of the other version", second, 200)) return;
      const third = await refreshAt(to, second.body.refresh_token ?? "");
      if (!expectStatus("a refresh token of the other version", third, 200)) return;
      await readAt(to, third.body.access_token);
      expectStatus("a code that was used", await untilFree(() => exchange({ url: from }, app, begun)), 400);
      const ended = await refreshAt(from, third.body.refresh_token ?? "");
      expectStatus("a refresh token of a code that was used twice", ended, 400);
      const next = await refreshAt(to, old);
      if (expectStatus("the refresh token of the beginning", next, 200)) old = next.body.refresh_token ?? old;
    },
  };
}

/** Asks again where the service says that it is busy, as a caller does. */
async function untilFree<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 429 && answer.status !== 503) return answer;
    await sleep(busyPauseMs);
  }
}
