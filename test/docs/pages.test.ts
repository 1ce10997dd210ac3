// @module-tag slow
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { contents } from "../../src/publish/contents.ts";
import { demoApp, demoLogin, startDemo } from "../support/api.ts";
import { makeHeaders, readSecret } from "../../src/webhooks/signature.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeRunningClock, type TestService } from "../support/service.ts";
import { getUserTokens, passPages } from "../support/token.ts";
import { isRunnable, runSnippet, startSnippet, type Surroundings } from "./run-snippet.ts";
import { fits, listPages, readSnippets, type Snippet } from "./snippets.ts";

const app = demoApp("demo-lernapp");
/** The example of the contract of the webhooks. */
const webhook = {
  secret: "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=",
  body: '{"event":"person","action":"update","updatedProperties":["groups"],"personId":"c0000000-0000-4000-8000-000000000002"}',
};
let service: TestService;

beforeAll(async () => {
  // Programs judge tokens by the real time.
  service = await startDemo({ clock: makeRunningClock(), env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
});

const terminals = new Map<string, Promise<Surroundings>>();
/** A new terminal of a reader, after the blocks that a page tells them to type there. */
function surroundingsOf(page: string): Promise<Surroundings> {
  const opened = terminals.get(page) ?? openTerminalOf(page);
  terminals.set(page, opened);
  return opened;
}

async function openTerminalOf(page: string): Promise<Surroundings> {
  const replace = { "http://localhost:3000": service.url };
  const named = readFileSync(`docs/${page}.md`, "utf8").includes("(first-steps.md#a-terminal)") ? ["first-steps"] : [];
  const blocks = [...named, page].flatMap(readSnippets).filter(({ words }) => words[0] === "terminal");
  const [first] = blocks;
  if (first === undefined) return { env: {}, replace };
  const code = [...blocks.map((block) => `{ ${block.code}\n} &&`), "export -p"].join("\n");
  const { code: ended, printed, complaints } = await runSnippet({ ...first, code }, { env: {}, replace });
  expect([ended, complaints]).toEqual([0, ""]);
  const exported = [...printed.matchAll(/^declare -x (\w+)="(.*)"$/gm)].map(([, name, value]) => [name!, value!]);
  const kept = exported.filter(([name]) => /^(CLIENT_ID|CLIENT_SECRET|TOKEN|WEBHOOK_SECRET)$/.test(name!));
  return { env: Object.fromEntries(kept) as Record<string, string>, replace };
}

const pages = listPages();
const programs = pages.flatMap((page) => readSnippets(page).map((snippet, at) => ({ page, number: at + 1, snippet })));
const wordOf = ({ words }: Snippet, name: string): string | undefined =>
  words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
/** Those that ask for what is not installed here are skipped. */
const runnable = programs.filter(({ snippet }) => isRunnable(snippet));
const runsToEnd = ({ words }: Snippet): boolean => words.length === 0;

function expectOutput({ output, code }: Snippet, printed: string): void {
  const shown = (output ?? "").replaceAll("http://localhost:3000", service.url);
  expect(fits(shown, printed) ? "as shown" : printed, `${code}\n\nshows\n\n${shown}`).toBe("as shown");
}

describe("a program of docs/ prints what its page shows", () => {
  test.for(runnable.filter(({ snippet }) => runsToEnd(snippet)))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const { code, printed, complaints } = await runSnippet(snippet, await surroundingsOf(page));
      expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
      expectOutput(snippet, printed);
    },
  );
});

describe("a receiver of webhooks of docs/ takes what the service signs, and nothing forged or old", () => {
  test.for(runnable.filter(({ snippet }) => wordOf(snippet, "webhook") !== undefined))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const server = await startSnippet(snippet, await surroundingsOf(page), wordOf(snippet, "webhook")!);
      const post = async (body: string, headers: Record<string, string | undefined>) => {
        const sent = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
        return (await fetch(server.url, { method: "POST", body, headers: sent })).status;
      };
      const sign = (secondsAgo = 0) =>
        makeHeaders(
          { messageId: "msg-1", eventType: "person", isTest: false, body: webhook.body },
          [readSecret(webhook.secret)],
          new Date(Date.now() - secondsAgo * 1000),
        );
      const genuine = sign();
      const signature = genuine["webhook-signature"]!;
      for (const [body, headers] of [
        [`${webhook.body} `, {}],
        [webhook.body, { "webhook-id": "msg-2" }],
        [webhook.body, { "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 7) }],
        [webhook.body, { "webhook-timestamp": "" }],
        [webhook.body, { "webhook-timestamp": undefined }],
        [webhook.body, { "webhook-timestamp": "soon" }],
        [webhook.body, { "webhook-signature": signature.replace(/^v1,./, "v1,!") }],
        [webhook.body, { "webhook-signature": signature.slice(0, -4) }],
        [webhook.body, { "webhook-signature": "" }],
        [webhook.body, { "webhook-signature": undefined }],
        [webhook.body, sign(600)],
        [webhook.body, sign(-600)],
      ] as const)
        expect(await post(body, { ...genuine, ...headers }), JSON.stringify(headers)).toBe(401);
      const several = { ...genuine, "webhook-signature": `v1,AAAA ${signature}` };
      expect(await post(webhook.body, several), server.complaints()).toBe(204);
      await expect.poll(() => fits(snippet.output ?? "", server.printed())).toBe(true);
    },
  );
});

describe("a sender of webhooks of docs/ signs as the service does", () => {
  test.for(runnable.filter(({ snippet }) => wordOf(snippet, "send") !== undefined))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const port = wordOf(snippet, "send")!;
      const receiver = readSnippets(page).find((other) => wordOf(other, "webhook") === port)!;
      const { url } = await startSnippet(receiver, await surroundingsOf(page), port);
      const { env, replace } = await surroundingsOf(page);
      const { printed } = await runSnippet(snippet, {
        env,
        replace: { ...replace, [`http://localhost:${port}`]: url },
      });
      expectOutput(snippet, printed);
    },
  );
});

describe("an app of docs/ signs a person in, and nobody whose sign-on did not begin there", () => {
  test.for(runnable.filter(({ snippet }) => wordOf(snippet, "server") !== undefined))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const server = await startSnippet(snippet, await surroundingsOf(page), wordOf(snippet, "server")!);
      await service.db.pool.query(
        "UPDATE app SET redirect_uris = array_append(redirect_uris, $1) WHERE client_id = $2",
        [`${server.url}/callback`, app.clientId],
      );
      const begin = await ask(`${server.url}/login?login_hint=unknown-hint`);
      expect(begin.location, server.complaints()).toContain("login_hint=unknown-hint");
      const browser = makeBrowser(service.url);
      const login = await browser.open(begin.location.replace("login_hint=unknown-hint", ""));
      const consent = await browser.submit(login, "/login", demoLogin(2));
      const back = consent.url.startsWith(service.url) ? await browser.submit(consent, "/consent") : consent;
      const stranger = await ask(back.url);
      expect(stranger.text).not.toContain("c0000000");
      const done = await ask(back.url, begin.cookie);
      expectOutput(snippet, done.text);
      expect((await ask(back.url, begin.cookie)).text).not.toContain("c0000000");
    },
  );
});

describe("a single page app of docs/ signs a person in", () => {
  type Module = { signIn(): Promise<void>; finishSignIn(): Promise<{ sub: string }> };

  test.for(programs.filter(({ snippet }) => wordOf(snippet, "browser") !== undefined))(
    "$page, $number",
    async ({ snippet }) => {
      const code = snippet.code.replaceAll("http://localhost:3000", service.url);
      const stored = new Map<string, string>();
      const place = {
        search: "?login_hint=",
        address: "",
        assign: (address: string) => void (place.address = address),
      };
      const stubs = {
        location: place,
        sessionStorage: {
          getItem: (key: string) => stored.get(key) ?? null,
          setItem: (key: string, value: string) => void stored.set(key, value),
          removeItem: (key: string) => void stored.delete(key),
        },
      };
      const given = `const { location, sessionStorage } = globalThis.stubsOfDocs;\n`;
      Object.assign(globalThis, { stubsOfDocs: stubs });
      const app = (await import(`data:text/javascript,${encodeURIComponent(given + code)}`)) as Module;
      await app.signIn();
      const browser = makeBrowser(service.url);
      const login = await browser.open(place.address);
      const consent = await browser.submit(login, "/login", demoLogin(2));
      place.search = new URL((await browser.submit(consent, "/consent")).url).search;
      expect(await app.finishSignIn()).toMatchObject({
        sub: "c0000000-0000-4000-8000-000000000002",
        family_name: "Muster",
      });
      await expect(app.finishSignIn()).rejects.toThrow("did not begin here");
    },
  );
});

describe("an app of docs/ on a device signs a person in", () => {
  const exchanges = runnable.filter(({ snippet }) => wordOf(snippet, "exchange") !== undefined);

  test.for(runnable.filter(({ snippet }) => wordOf(snippet, "authorize") !== undefined))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const surroundings = await surroundingsOf(page);
      const { printed, complaints } = await runSnippet(snippet, surroundings);
      expect(complaints).toBe("");
      expectOutput(snippet, printed);
      const [verifier, address] = printed.trim().split("\n") as [string, string];
      const browser = makeBrowser(service.url);
      const back = await passPages(browser, await browser.open(address), demoLogin(2));
      const query = new URL(back.url).searchParams;
      expect([query.get("state"), query.get("iss")]).toEqual([new URL(address).searchParams.get("state"), service.url]);
      const exchange = exchanges.find((one) => one.page === page && one.snippet.language === snippet.language)!.snippet;
      const env = { ...surroundings.env, CODE: query.get("code")!, VERIFIER: verifier };
      expectOutput(exchange, (await runSnippet(exchange, { ...surroundings, env })).printed);
    },
  );
});

describe("an address of docs/ ends the session at the service", () => {
  test.for(runnable.filter(({ snippet }) => snippet.words.includes("logout")))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const { browser, id_token: idToken } = await getUserTokens(service, app, demoLogin(2));
      const surroundings = await surroundingsOf(page);
      const env = { ...surroundings.env, ID_TOKEN: idToken! };
      const { printed, complaints } = await runSnippet(snippet, { ...surroundings, env });
      expect(complaints).toBe("");
      expectOutput(snippet, printed);
      const asked = await browser.open(printed.trim());
      const back = new URL((await browser.submit(asked, "/confirm", { logout: "yes" })).url);
      expect(`${back.origin}${back.pathname}`).toBe("http://127.0.0.1:4000/");
      expect(back.searchParams.get("state")).toBe(new URL(printed).searchParams.get("state"));
    },
  );
});

describe("a receiver of logout tokens of docs/ takes those of the service and nothing else", () => {
  test.for(runnable.filter(({ snippet }) => wordOf(snippet, "backchannel") !== undefined))(
    "$page, $number, in $snippet.language",
    async ({ page, snippet }) => {
      const server = await startSnippet(snippet, await surroundingsOf(page), wordOf(snippet, "backchannel")!);
      await service.db.pool.query("UPDATE app SET backchannel_logout_uri = $1 WHERE client_id = $2", [
        server.url,
        app.clientId,
      ]);
      const { browser, id_token: idToken } = await getUserTokens(service, app, demoLogin(2));
      const send = async (logoutToken: string) =>
        (await fetch(server.url, { method: "POST", body: new URLSearchParams({ logout_token: logoutToken }) })).status;
      for (const refused of [idToken!, "x", "", ...(await forgeLogoutTokens(idToken!))])
        expect(await send(refused), refused).toBe(400);
      await browser.submit(await browser.open("/oauth2/sessions/logout"), "/confirm", { logout: "yes" });
      await service.runJob("sign-on.tellLogouts");
      await expect.poll(() => fits(snippet.output ?? "", server.printed())).toBe(true);
    },
  );
});

/** Logout tokens that are as those of the service apart from their signature. */
async function forgeLogoutTokens(idToken: string): Promise<string[]> {
  const { iss, aud, sub, sid } = decodeJwt(idToken);
  const { kid } = decodeProtectedHeader(idToken);
  const seconds = Math.floor(Date.now() / 1000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const claims = { iss: iss!, aud: aud!, sub: sub!, sid, events, jti: "forged", iat: seconds, exp: seconds + 120 };
  const { privateKey } = await generateKeyPair("RS256");
  const signed = await new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", typ: "logout+jwt", kid: kid! })
    .sign(privateKey);
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "logout+jwt", kid })).toString("base64url");
  return [signed, `${none}.${signed.split(".")[1]!}.`];
}

/** Asks an app of a page as a browser does. */
async function ask(url: string, cookie = ""): Promise<{ location: string; cookie: string; text: string }> {
  const response = await fetch(url, { redirect: "manual", headers: { cookie } });
  return {
    location: response.headers.get("location") ?? "",
    cookie: response.headers
      .getSetCookie()
      .map((line) => line.split(";")[0]!)
      .join("; "),
    text: await response.text(),
  };
}

test("every page of docs/ is in the contents once", () => {
  const listed = contents.flatMap(({ entries }) => entries.filter((entry) => typeof entry === "string"));
  expect(listed.sort()).toEqual(pages);
});

/** The addresses of the service and the files of the project that messages, pages and descriptions name. */
function listNamed(): { addresses: string[]; files: string[] } {
  const [addresses, files] = [new Set<string>(), new Set<string>()];
  const sources = globSync(["src/**/*.{ts,eta,json}", "openapi/{*,*/*}.yaml", "bin/*.js"], {
    exclude: ["**/*.test.ts"],
  });
  for (const file of sources) {
    const text = readFileSync(file, "utf8").replaceAll(/^ *(\/?\*|\/\/).*$/gm, "");
    for (const [address] of text.matchAll(
      /(?<![\w.:/}>-]|use\(")\/(docs|downloads|guide)\/[a-z][\w./-]*[\w](?![\w/:*$<{-])/g,
    ))
      addresses.add(address);
    for (const [, name] of text.matchAll(
      /["`(\s]((docs|deploy|prisma|bench|test)\/[\w./-]+\.md|README|[A-Z]{4,}\.md)\b/g,
    ))
      files.add(
        existsSync(join(dirname(file), name!)) ? join(dirname(file), name!) : name!.replace(/^README$/, "README.md"),
      );
  }
  return { addresses: [...addresses], files: [...files] };
}

test("the links of the pages, and what messages name, lead to pages and files that exist", async () => {
  const { addresses, files } = listNamed();
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  const links = new Set<string>(addresses);
  for (const page of pages) {
    const html = await (await fetch(`${service.url}/docs/${page}`)).text();
    for (const [, path] of html.replaceAll(service.url, "").matchAll(/href="(\/[^"#]*)/g)) links.add(path!);
  }
  expect(links.size).toBeGreaterThan(pages.length);
  const missing = [];
  for (const path of links) {
    const response = await fetch(service.url + path);
    await response.arrayBuffer();
    if (response.status !== 200) missing.push(path);
  }
  expect(missing).toEqual([]);
});
