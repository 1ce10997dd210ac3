// @module-tag slow
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import express from "express";
import { expect, test } from "vitest";
import { makePublishRouter } from "../../src/publish/index.ts";
import { startApp } from "../cli/check-app/app.ts";
import { atFileEnd } from "../support/file-end.ts";
import { serve } from "../support/serve.ts";
import { findPort } from "../support/find-port.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "downloads-"));
atFileEnd(() => rmSync(folder, { recursive: true }));

const packages = { repository: "https://git.example.org/nordlicht", licence: "EUPL-1.2" };

async function startPublisher(issuerUrl: string): Promise<string> {
  const place = { platform: "nordlicht", baseUrl: issuerUrl, issuerUrl };
  const withoutPkce = { deprecatedAt: new Date(), sunsetAt: new Date() };
  const router = makePublishRouter({ ...place, withoutPkce, packages, isReady: async () => true });
  return serve(express().disable("etag").use(router));
}

const url = await startPublisher("https://login.example.org");
const names = ["schultor-client.tgz", "schultor-cli.tgz"];

/** Nothing but the service is reached: the registry of npm is not there. */
const envOf = (node: string) => ({
  PATH: [dirname(node), process.env["PATH"]].join(delimiter),
  HOME: folder,
  npm_config_cache: join(folder, "cache"),
  npm_config_registry: "http://127.0.0.1:1/",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  npm_config_fetch_retries: "0",
});

/** The Node of this project, and the one of the machine if it is another. */
async function listNodes(): Promise<[version: string, node: string][]> {
  const paths = [...(process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, "node")), process.execPath];
  const found = new Map<string, string>();
  for (const path of paths) {
    const version = await run(path, ["--version"]).then(
      ({ stdout }) => stdout.trim(),
      () => "",
    );
    if (Number(version.slice(1).split(".")[0]) >= 20) found.set(version.split(".")[0]!, path);
  }
  return [...found];
}

test.each(names)("%s has the same bytes on every service of one address, and an ETag", async (name) => {
  const answer = await fetch(`${url}/downloads/${name}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(answer.headers.get("content-type")).toBe("application/gzip");
  const again = await fetch(`${await startPublisher("https://login.example.org")}/downloads/${name}`);
  expect(Buffer.from(await again.arrayBuffer()).equals(bytes)).toBe(true);
  const etag = answer.headers.get("etag")!;
  expect(again.headers.get("etag")).toBe(etag);
  const headers = { "If-None-Match": etag };
  expect(await fetch(`${url}/downloads/${name}`, { headers })).toMatchObject({ status: 304 });
  expect(await fetch(`${url}/downloads/${name}`, { method: "POST" })).toMatchObject({ status: 405 });
  expect(await fetch(`${url}/downloads/other.tgz`)).toMatchObject({ status: 404 });

  const place = join(folder, `unpacked-${name}`);
  mkdirSync(place);
  writeFileSync(join(place, name), bytes);
  await run("tar", ["xzf", name], { cwd: place });
  const manifest = JSON.parse(readFileSync(join(place, "package/package.json"), "utf8")) as Record<string, unknown>;
  expect(manifest).toMatchObject({
    license: "EUPL-1.2",
    repository: { type: "git", url: "https://git.example.org/nordlicht" },
    homepage: "https://login.example.org/docs",
  });
  expect(manifest).not.toHaveProperty("scripts");
  expect(JSON.stringify(manifest)).not.toMatch(/file:|\.\.\//);
});

test("the page says how large the command line is", async () => {
  const { byteLength } = await (await fetch(`${url}/downloads/schultor-cli.tgz`)).arrayBuffer();
  const page = await (await fetch(`${url}/docs/check-app`)).text();
  const [, said] = /\((\d+) kB\)/.exec(page)!;
  expect(Math.abs(Number(said) - byteLength / 1000)).toBeLessThan(20);
  expect(byteLength).toBeLessThan(3_000_000);
});

test.each(await listNodes())("with Node %s, npx runs the command line from the service alone", async (_, node) => {
  const issuerPort = await findPort();
  const [clientId, clientSecret] = ["check-app", "check-app-secret"];
  const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
  const issuer = `http://127.0.0.1:${issuerPort}`;
  const settings = { issuer, clientId, clientSecret, secrets: [secret], showsName: true, faults: new Set<never>() };
  const app = await startApp({ ...settings, verifies: "standard" });
  const npx = async (...args: string[]) => {
    const options = { cwd: folder, env: envOf(node) };
    return run("npx", ["--yes", `${url}/downloads/schultor-cli.tgz`, ...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
  };
  const report = await npx(
    ...["check-app", "--port", String(issuerPort), "--login-url", `${app.url}/login`],
    ...["--redirect-uri", `${app.url}/callback`, "--webhook-url", `${app.url}/hook`],
  );
  expect(report.stdout).toMatch(/\n\d+ passed, 0 failed/);
  expect(report).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/warning/i) as string });

  const refused = await npx("sandbox", "list");
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("schultor login <address>") as string });
});

test("npm installs the client for TypeScript from the service", async () => {
  const app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const env = envOf(process.execPath);
  await run("npm", ["install", `${url}/downloads/schultor-client.tgz`], { cwd: app, env });
  const code = 'import { createClient } from "@schultor/client"; console.log(typeof createClient);';
  const { stdout: printed } = await run(process.execPath, ["--input-type=module", "-e", code], { cwd: app });
  expect(printed).toBe("function\n");
});
