import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { cookiesOf, Missing, peerApp, peerPassword, scope, type Start, startModule } from "./peer.ts";

const sources = join(import.meta.dirname, "better-auth");
const folder = join(import.meta.dirname, "../../.cache/better-auth");
// It takes https only for a client of the kind web.
const app = { ...peerApp, redirectUri: "https://app.example/callback" };
const endpoints = { authorization: "/api/auth/oauth2/authorize", token: "/api/auth/oauth2/token" };

/** Installs its packages once for each lock file. Errors: `Missing` without a network. */
async function install(): Promise<void> {
  await mkdir(folder, { recursive: true });
  await cp(sources, folder, { recursive: true });
  const lock = await readFile(join(sources, "package-lock.json"), "utf8");
  const marker = join(folder, "node_modules/.installed");
  if ((await readFile(marker, "utf8").catch(() => "")) === lock) return;
  try {
    await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  } catch (error) {
    throw new Missing(`npm ci failed in ${sources}: ${(error as { stderr: string }).stderr.trim()}`);
  }
  await writeFile(marker, lock);
}

async function signUp(url: string, number: number): Promise<string> {
  const response = await fetch(`${url}/api/auth/sign-up/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ name: "Bo Muster", email: `person${number}@school.example`, password: peerPassword }),
  });
  if (!response.ok) throw new Error(`sign-up was answered ${response.status} ${await response.text()}`);
  return cookiesOf(response);
}

export const startBetterAuth: Start = async ({ databaseUrl, people }) => {
  await install();
  const subject = await startModule("better-auth", pathToFileURL(join(folder, "server.js")).href, {
    DATABASE_URL: databaseUrl,
    CLIENT_ID: app.clientId,
    CLIENT_SECRET: app.clientSecret!,
    REDIRECT_URI: app.redirectUri,
    SCOPE: scope,
  });
  const machine = { url: subject.url, app, endpoints };
  const numbers = Array.from({ length: people }, (_, number) => number);
  const cookies = await Promise.all(numbers.map((number) => signUp(subject.url, number)));
  return { ...subject, sides: cookies.map((one) => ({ ...machine, cookies: one })), machine };
};
