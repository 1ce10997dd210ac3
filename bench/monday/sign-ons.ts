// Whole sign-ons, from the authorization request to the tokens, as a browser and an app make them.
import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";
import type { ClientId } from "../../src/access/index.ts";
import type { Authenticator } from "../../test/support/authenticator.ts";
import { optionsOf, stateOf } from "../../test/support/passkey.ts";
import type { TestApp } from "../../test/support/token.ts";
import type { Subject } from "../harness.ts";
import { authorizationUrl } from "../sign-on.ts";
import { everywhere } from "../size/worlds.ts";
import { appSecret, password } from "../world/shape.ts";
import { makeBrowser, Refused, type Browser, type Network, type Page } from "./browser.ts";
import type { Pupil } from "./world.ts";

const cardPath = "/card";

export const app: TestApp = {
  clientId: everywhere as ClientId,
  clientSecret: appSecret,
  redirectUri: "http://127.0.0.1:4000/callback",
};

export type Ways = Record<"password" | "card" | "passkey" | "session", (n: number) => Promise<void>>;

/**
 * Ways to sign in the n-th pupil, each in a browser that was never used before, except with a session.
 *
 * Shape: `told` gets each wait that a page told, which the browser then keeps to as its script does.
 */
export function makeWays(
  service: Subject,
  pupils: readonly Pupil[],
  { keys, network, told }: { keys: readonly Authenticator[]; network: Network; told: (refused: Refused) => void },
): Ways {
  const pupilOf = (n: number) => pupils[n % pupils.length]!;
  const keyOf = (n: number) => keys[n % keys.length]!;
  const sessions = new Map<number, Browser>();
  const open = (n: number) => makeBrowser(service, network.agentOf(n));

  async function withPassword(n: number, browser: Browser): Promise<void> {
    const { address, verifier } = authorizationUrl({ ...service, app });
    const form = await browser.open(address);
    const shown = await atTurn(browser, () =>
      browser.post(form, "/login", { username: pupilOf(n).username, password }),
    );
    await exchange(service, network, { n, page: shown, verifier });
  }

  async function atTurn(browser: Browser, work: () => Promise<Page>): Promise<Page> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refused) || !error.page.html.includes('name="waiting"')) throw error;
      told(error);
      await wait(error.retryAfterSeconds * 1000);
      return atTurn(browser, () => browser.post(error.page, "/login"));
    }
  }

  return {
    password: (n) => withPassword(n, open(n)),
    async card(n) {
      const browser = open(n);
      const { address, verifier } = authorizationUrl({ ...service, app });
      await browser.open(address);
      const form = await browser.open(`${cardPath}/${pupilOf(n).cardToken}`);
      await exchange(service, network, { n, page: await browser.post(form, cardPath), verifier });
    },
    async passkey(n) {
      const browser = open(n);
      const { address, verifier } = authorizationUrl({ ...service, app });
      const form = await browser.open(address);
      const passkey = JSON.stringify(keyOf(n).prove(optionsOf(form)));
      await exchange(service, network, {
        n,
        page: await browser.post(form, "/login", { passkey, state: stateOf(form) }),
        verifier,
      });
    },
    async session(n) {
      const browser = sessions.get(n) ?? open(n);
      if (!sessions.has(n)) await withPassword(n, browser);
      sessions.set(n, browser);
      const { address, verifier } = authorizationUrl({ ...service, app });
      await exchange(service, network, { n, page: await browser.open(address), verifier });
    },
  };
}

type Back = { n: number; page: Page; verifier: string };

/** Errors: when the page is not that of the app, or the code brings no ID token. */
export async function exchange({ url }: Subject, network: Network, { n, page, verifier }: Back): Promise<void> {
  const code = page.url.searchParams.get("code");
  if (code === null) throw new Error(`the browser did not come back to the app, but to ${page.url.pathname}`);
  const { statusCode, headers, body } = await request(`${url}/oauth2/token`, {
    dispatcher: network.agentOf(n),
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret ?? ""}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: app.redirectUri,
      code_verifier: verifier,
    }).toString(),
  });
  const answer = await body.text();
  const retryAfter = headers["retry-after"];
  if ((statusCode === 503 || statusCode === 429) && retryAfter !== undefined)
    throw new Refused(statusCode, Number(retryAfter), { url: new URL(url), html: answer });
  if (statusCode !== 200 || !answer.includes('"id_token"'))
    throw new Error(`the code was answered ${statusCode} ${answer.slice(0, 200)}`);
}
