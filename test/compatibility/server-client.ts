import { equal, notEqual, ok } from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "../api/sign-on/world.ts";
import { checkCalledUri } from "../../src/access/index.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import { startProgram } from "../support/program.ts";
import { passPages } from "../support/token.ts";
import { backchannelPathOf, fileOf, type Client, type Step } from "./clients.ts";

const folder = join(import.meta.dirname, "../../.cache/compatibility");

/** What is tried with a client. Errors: a step that fails throws. */
export type Attempts = { attempts: Record<Step, () => Promise<void>>; printed(): string };

type User = { sub: string; accessToken?: string };

/** A person with a browser uses a server that signs people in. */
export async function startServerClient(client: Client, world: World): Promise<Attempts> {
  const { service, login, pupil } = world;
  const port = await findPort();
  const baseUrl = `http://localhost:${port}`;
  const app = await world.app({
    redirectUris: [baseUrl + client.callback],
    postLogoutRedirectUris: [baseUrl, `${baseUrl}/`],
    backchannelLogoutUri: client.offers.includes("backchannelLogout")
      ? await checkCalledUri(baseUrl + backchannelPathOf(client), { allowPrivateAddresses: true })
      : null,
    ...client.registration,
  });
  const programs = join(folder, "programs");
  const [command, ...options] = client.command ?? [process.execPath];
  const settings = {
    PORT: String(port),
    BASE_URL: baseUrl,
    ISSUER: service.url,
    CLIENT_ID: app.clientId,
    CLIENT_SECRET: app.clientSecret!,
    SESSION_SECRET: "a secret of thirty-two characters or more",
    // For Apache.
    PROGRAMS: programs,
    MODULES: "/usr/lib/apache2/modules",
    FOLDER: makeTempFolder(),
  };
  const program = startProgram([...options, join(programs, fileOf(client))], settings, command);
  await until(() => fetch(baseUrl, { redirect: "manual" }).catch(() => undefined));

  const [here, there] = [makeBrowser(baseUrl), makeBrowser(service.url)];
  const read = async <T>(path: string): Promise<T | null> => {
    const { status, html } = await here.open(path);
    return status === 200 ? (JSON.parse(html) as T) : null;
  };
  const me = () => read<User>("/me");
  const askForSignOn = async () => {
    const asked = await here.open(client.signInPage ?? "/login");
    const sent = asked.url.startsWith(baseUrl) ? await here.submit(asked, "/schultor") : asked;
    return there.open(sent.url);
  };
  const signIn = async () => {
    const back = await passPages(there, await askForSignOn(), login);
    await here.open(back.url);
    const user = await me();
    equal(user?.sub, pupil, back.url);
    return user!;
  };
  const signOut = async (address: string) => {
    const page = await there.open(address);
    equal(page.status, 200, page.html);
    return there.submit(page, "/confirm", { logout: "yes" });
  };

  const attempts: Attempts["attempts"] = {
    async signOn() {
      equal(await me(), null);
      await signIn();
    },
    async userinfo() {
      const userinfo = await read<{ sub: string; family_name: string }>("/userinfo");
      equal(userinfo?.sub, pupil);
      ok(userinfo?.family_name);
    },
    async refresh() {
      const before = (await me())!.accessToken;
      const after = await until(async () => {
        const token = (await read<User>("/refresh"))?.accessToken;
        return token !== before && token;
      });
      notEqual(after, undefined);
      const headers = { authorization: `Bearer ${after}` };
      equal((await fetch(`${service.url}/oauth2/userinfo`, { headers })).status, 200);
    },
    async logout() {
      const sent = await here.open("/logout");
      const left = await signOut(sent.url);
      ok(left.url.startsWith(baseUrl), left.url);
      equal(await me(), null);
      ok((await askForSignOn()).html.includes("/login"));
    },
    async backchannelLogout() {
      if ((await me()) === null) await signIn();
      await signOut(`${service.url}/oauth2/sessions/logout`);
      await until(async () => {
        await service.runJob("sign-on.tellLogouts");
        return (await me()) === null;
      });
    },
  };
  return { attempts, printed: program.output };
}

function makeTempFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "schultor-compatibility-"));
  chmodSync(made, 0o777);
  atFileEnd(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const seconds = 120;

/** The first result that is not falsy. Errors: none in this time throws. */
async function until<T>(look: () => Promise<T | false | undefined>): Promise<T> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(200)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`it did not come about within ${seconds} seconds`);
}
