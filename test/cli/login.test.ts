import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands, runCommandLine } from "../../src/cli/index.ts";
import { partnerCommands } from "../../src/cli/partner-commands.ts";
import { readRemoteSettings } from "../../src/config/remote.ts";
import { startDemo } from "../support/api.ts";
import { makeBrowser, type Browser, type Shown } from "../support/browser.ts";
import { setUpTotp, totpCode } from "../support/second-factor.ts";
import { makeScreen } from "./program.ts";
import { makeConfigFolder } from "./remote-world.ts";
import { serve } from "../support/serve.ts";

const service = await startDemo();
const partner = { username: "partner.lernapp", password: "demo-partner-lernapp" };

/** Somebody at a terminal who types a login; `lines` are what the terminal shows. */
function type(
  folder: string,
  args: readonly string[],
  ask?: (question: string, signal?: AbortSignal) => Promise<string>,
) {
  const { lines, show: out, until } = makeScreen();
  const env = { XDG_CONFIG_HOME: folder };
  const terminal = { out, err: out, readRemoteSettings: () => readRemoteSettings(env), ...(ask && { ask }) };
  return { lines, until, ended: runCommandLine(partnerCommands, args, terminal) };
}

async function startLogin(folder: string, ask?: (question: string, signal?: AbortSignal) => Promise<string>) {
  const typed = type(folder, ["login", service.url, "--no-browser"], ask);
  await typed.until((lines) => lines.join("\n").includes("http"));
  const [address] = /https?:\S+/.exec(typed.lines.join("\n"))!;
  return { ...typed, address };
}

/** The pages of the sign-on until the one that asks whether the command line may act for the person. */
async function openConsent(address: string, login = partner): Promise<{ browser: Browser; page: Shown }> {
  const browser = makeBrowser(service.url);
  const page = await browser.submit(await browser.open(address), "/login", login);
  return { browser, page };
}

const allow = async (address: string): Promise<string> => {
  const { browser, page } = await openConsent(address);
  expect(page.html).toContain("Schultor command line");
  return (await browser.submit(page, "/consent")).url;
};

async function logIn(): Promise<string> {
  const folder = await makeConfigFolder();
  const { address, ended } = await startLogin(folder);
  expect(await (await fetch(await allow(address))).text()).toContain("You are logged in");
  expect(await ended).toBe(0);
  return folder;
}

const fileOf = (folder: string) => join(folder, "schultor/remotes.json");
const tokenOf = async (folder: string) =>
  (JSON.parse(await readFile(fileOf(folder), "utf8")) as { known: [{ refreshToken: string }] }).known[0].refreshToken;

test("a partner logs in with the browser, works with the tokens of their roles, and logs out", async () => {
  const folder = await logIn();
  expect((await stat(fileOf(folder))).mode & 0o777).toBe(0o600);
  const first = await tokenOf(folder);
  const listed = type(folder, ["app", "list", "--quiet"]);
  expect(await listed.ended).toBe(0);
  expect(listed.lines).toEqual(["demo-lernapp"]);
  const changed = type(folder, ["app", "update", "demo-lernapp", "--name", "Lernapp"]);
  await changed.ended;
  expect(changed.lines[0]).toMatch(/^At http:\S+, as [A-Z]\S+, [A-Z]\S+:$/);
  const renewed = await tokenOf(folder);
  expect(renewed).not.toBe(first);

  const ending = type(folder, ["logout"]);
  expect(await ending.ended).toBe(0);
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: renewed, client_id: "schultor-cli" });
  const refused = await fetch(`${service.url}/oauth2/token`, { method: "POST", body });
  expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
  const after = type(folder, ["app", "list"]);
  expect(await after.ended).toBe(3);
  expect(after.lines.join()).toContain("schultor login");
});

test("what is not the answer to the login does not count: another state, another issuer, none, another path", async () => {
  const folder = await makeConfigFolder();
  const { address, ended } = await startLogin(folder);
  const sent = new URL(address).searchParams;
  const back = new URL(sent.get("redirect_uri")!);
  const [state, iss] = [sent.get("state")!, service.url];
  for (const given of [{}, { code: "x" }, { code: "x", state: "y", iss }, { code: "x", state }, { error: "no" }]) {
    back.search = new URLSearchParams(given as Record<string, string>).toString();
    expect((await fetch(back)).status).toBe(400);
  }
  expect((await fetch(new URL(`/?code=x&state=${state}&iss=${encodeURIComponent(iss)}`, back))).status).toBe(400);
  await fetch(await allow(address));
  expect(await ended).toBe(0);
});

test("school staff with a second factor log in after the code, in their role", async () => {
  const login = { username: "schooladmin.goethe", password: "demo-schooladmin-goethe" };
  const phone = makeBrowser(service.url);
  await phone.submit(await phone.open("/sign-in"), "/sign-in", login);
  const { secret } = await setUpTotp(phone, service.clock);
  // A code is good once.
  service.clock.forwardSeconds(30);
  const { address, ended, lines } = await startLogin(await makeConfigFolder());
  const { browser, page } = await openConsent(address, login);
  const wrong = await browser.submit(page, "/second-factor", { code: "000000" });
  expect(wrong.html).not.toContain("/consent");
  const consent = await browser.submit(wrong, "/second-factor", { code: totpCode(secret, service.clock()) });
  await fetch((await browser.submit(consent, "/consent")).url);
  expect(await ended, lines.join("\n")).toBe(0);
  expect(lines.join("\n")).toContain("with SCHOOL_ADMIN.");
});

test("a person who refuses is told so, and nothing is kept", async () => {
  const folder = await makeConfigFolder();
  const { address, ended, lines } = await startLogin(folder);
  const { browser, page } = await openConsent(address);
  // The button of the same form sends it to another address.
  const html = page.html.replace(/action="([^"]+)\/consent"/, 'action="$1/cancel"');
  const refused = await browser.submit({ ...page, html }, "/cancel");
  await fetch(refused.url);
  expect(await ended).toBe(3);
  expect(lines.join("\n")).toContain("You were not logged in");
  await expect(readFile(fileOf(folder))).rejects.toThrow("ENOENT");
});

test("with the browser on another machine, the address of its last page is copied to the terminal", async () => {
  const folder = await makeConfigFolder();
  let paste: (text: string) => void = () => undefined;
  const { address, ended } = await startLogin(folder, () => new Promise((resolve) => (paste = resolve)));
  paste(await allow(address));
  expect(await ended).toBe(0);
});

const request = (given: Record<string, string>) =>
  `${service.url}/oauth2/auth?${new URLSearchParams({
    client_id: "schultor-cli",
    response_type: "code",
    redirect_uri: "http://127.0.0.1:5555/callback",
    scope: "offline_access urn:schultor:admin:v1:read",
    state: "0123456789abcdef0123456789abcdef",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    ...given,
  }).toString()}`;

test.each([
  "https://attacker.example/callback",
  "http://127.0.0.1.attacker.example/callback",
  "http://127.0.0.1:5555/other",
  "http://127.0.0.1:5555/callback?more",
  "http://localhost:5555/callback",
  "http://127.0.0.2/callback",
  "https://127.0.0.1:5555/callback",
  "http://user@127.0.0.1:5555/callback",
])("no code is sent to %s", async (redirectUri) => {
  const answer = await fetch(request({ redirect_uri: redirectUri }), { redirect: "manual" });
  expect(answer.status).toBe(400);
});

test("no token without PKCE by S256, and none in the browser", async () => {
  for (const wrong of [{ code_challenge_method: "plain" }, { code_challenge: "" }, { response_type: "token" }]) {
    const answer = await fetch(request(wrong as Record<string, string>), { redirect: "manual" });
    const to = answer.headers.get("location") ?? "";
    expect(to).not.toMatch(/[?&#](code|access_token)=/);
    expect(to.includes("error=") || answer.status === 400, JSON.stringify(wrong)).toBe(true);
  }
});

test("somebody who is signed in and allowed it before is asked again, and prompt=none gets nothing", async () => {
  const { browser, page } = await openConsent(request({}));
  await browser.submit(page, "/consent");
  const again = await browser.open(request({}));
  expect(again.html).toContain("Schultor command line");
  const silent = await browser.open(request({ prompt: "none" }));
  expect(new URL(silent.url).searchParams.get("error")).toMatch(/^(interaction|consent)_required$/);
});

test("a pupil gets no token, and apps get none of the command line's", async () => {
  const { page } = await openConsent(request({}), { username: "student.goethe", password: "demo-student-goethe" });
  expect(page.html).not.toContain("/consent");
  for (const given of [
    { grant_type: "client_credentials", client_id: "schultor-cli", scope: "urn:schultor:admin:v1:read" },
    { grant_type: "password", client_id: "schultor-cli", ...partner },
  ]) {
    const answer = await fetch(`${service.url}/oauth2/token`, { method: "POST", body: new URLSearchParams(given) });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  }
});

test("an address that is no service of ours opens no browser", async () => {
  const other = await serve((_req, res) => res.end("{}"));
  const { ended, lines } = type(await makeConfigFolder(), ["login", other]);
  expect(await ended).toBe(1);
  expect(lines.join()).toContain("no admin API");
  expect(Object.keys(commands)).toContain("login");
});
