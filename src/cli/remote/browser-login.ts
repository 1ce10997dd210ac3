import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { commandLineClientId } from "../../access/token.ts";
import { AppError } from "../../platform/errors.ts";
import { discover, type Fetch } from "./discovery.ts";
import { exchange, type Login } from "./token.ts";

type Talk = {
  tell(line: string): void;
  ask: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  opensBrowser: boolean;
};

const random = (): string => randomBytes(32).toString("base64url");

/** The sign-in page stays valid for an hour; the command gives up earlier, in case the browser was closed. */
const longestWaitMs = 600_000;

/**
 * Signs a person in with their browser and waits until it comes back to a free port of this machine.
 *
 * Errors: unauthenticated if they refuse or do not come back.
 * Source: RFC 8252 sections 7.3 and 8.1, RFC 7636, RFC 9207.
 */
export async function logInWithBrowser(address: string, fetch: Fetch, talk: Talk): Promise<Login> {
  const discovery = await discover(address, fetch);
  const [state, verifier] = [random(), random()];
  const expected = { state, issuer: discovery.issuer };
  const loopback = await listen(expected);
  try {
    const url = new URL(discovery.authorizationUrl);
    url.search = new URLSearchParams({
      response_type: "code",
      client_id: commandLineClientId,
      redirect_uri: loopback.redirectUri,
      scope: ["offline_access", ...discovery.scopes].join(" "),
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    }).toString();
    talk.tell(`Log in with your browser: ${url.href}`);
    if (talk.opensBrowser) openBrowser(url.href);
    const code = await Promise.race([loopback.code, askForAddress(talk, expected, loopback.ended)]);
    const grant = { grant_type: "authorization_code", code, redirect_uri: loopback.redirectUri };
    return (await exchange(address, discovery, { ...grant, code_verifier: verifier }, fetch)).login;
  } finally {
    loopback.close();
  }
}

type Expected = { state: string; issuer: string };

/** The code in an address that the browser came back to; null for a request that is not an answer to ours. */
function readCode(url: URL, { state, issuer }: Expected): { code: string } | { error: string } | null {
  const params = Object.fromEntries(url.searchParams);
  if (params["state"] !== state || params["iss"] !== issuer) return null;
  const { code, error = "failed", error_description: text } = params;
  return code === undefined ? { error: text ?? error } : { code };
}

const notLoggedIn = (reason: string): AppError =>
  new AppError("unauthenticated", "not_logged_in", `You were not logged in: ${reason}`);

async function listen(expected: Expected) {
  const ending = new AbortController();
  let settle: { resolve(code: string): void; reject(error: Error): void };
  const code = new Promise<string>((resolve, reject) => (settle = { resolve, reject }));
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const read = request.method === "GET" && url.pathname === "/callback" ? readCode(url, expected) : null;
    // Other programs and pages reach this port too: only the answer to our own request counts.
    if (read === null) return sendText(response, 400, "This is not the answer to a login of yours.");
    if ("code" in read) settle.resolve(read.code);
    else settle.reject(notLoggedIn(read.error));
    return sendText(response, 200, "code" in read ? "You are logged in. Close this page." : "You are not logged in.");
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const timer = setTimeout(() => {
    settle.reject(notLoggedIn("nobody came back from the browser within ten minutes."));
  }, longestWaitMs);
  return {
    code,
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    ended: ending.signal,
    close() {
      ending.abort();
      clearTimeout(timer);
      server.close();
    },
  };
}

function sendText(response: ServerResponse, status: number, text: string): void {
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", Connection: "close" };
  response.writeHead(status, headers).end(text);
}

const question =
  "If the browser runs on another machine, copy the address of its last page, which it cannot load, to here: ";

/** For a terminal on a machine without a browser. Never ends without a terminal. */
async function askForAddress({ ask }: Talk, expected: Expected, ended: AbortSignal): Promise<string> {
  if (ask === undefined) return new Promise(() => undefined);
  // Ends when the browser came back by itself.
  const text = await ask(question, ended).catch((error: unknown) => {
    if (ended.aborted) return "";
    throw error;
  });
  const read = URL.canParse(text.trim()) ? readCode(new URL(text.trim()), expected) : null;
  if (read === null) throw notLoggedIn("that is not the address of the page after the login.");
  if ("error" in read) throw notLoggedIn(read.error);
  return read.code;
}

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Where there is no browser, the printed address is what remains. */
function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
  child.once("error", () => undefined).unref();
}
