import type { AddressInfo } from "node:net";
import express from "express";
import { beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config/index.ts";
import { loadDocument } from "../../../src/platform/http/index.ts";
import { silentLog } from "../../../src/platform/telemetry/log.ts";
import { makeSignOn } from "../../../src/sign-on/index.ts";
import { makeUpstream } from "../../../src/upstream/index.ts";
import { oneForAll, testDatabase } from "../../support/database.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock } from "../../support/service.ts";
import { askFor, type TestApp } from "../../support/token.ts";

const issuerUrl = "https://login.example.org";
let local: string;
let app: TestApp;

// As behind a proxy that ends TLS: the request itself comes over plain http.
beforeAll(async () => {
  const db = await testDatabase();
  const config = readConfig({ NODE_ENV: "test", ISSUER_URL: issuerUrl });
  const clock = makeTestClock();
  const signOn = await makeSignOn({
    ...config,
    shares: oneForAll(db),
    clock,
    log: silentLog,
    upstream: makeUpstream({ ...config, db, jobsDb: db, clock, log: silentLog }),
    document: await loadDocument("sign-on", config.platform),
    checkAnswers: false,
  });
  const server = express().use(signOn.router).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  atFileEnd(() => server.close());
  local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await makeMakers(db).app();
});

test("cookies are Secure, HttpOnly and SameSite, and every address has the issuer's origin", async () => {
  const { pathname, search } = new URL(askFor({ url: issuerUrl }, app).address);
  const answer = await fetch(local + pathname + search, { redirect: "manual" });
  expect(answer.status).toBe(302);
  for (const cookie of answer.headers.getSetCookie())
    expect(cookie).toMatch(/; secure; httponly|; samesite=lax; secure; httponly/i);
  const page = await fetch(new URL(answer.headers.get("location")!, local), {
    headers: {
      cookie: answer.headers
        .getSetCookie()
        .map((line) => line.split(";")[0])
        .join("; "),
    },
  });
  expect(page.status).toBe(200);
  const discovery = (await (await fetch(`${local}/.well-known/openid-configuration`)).json()) as Record<
    string,
    unknown
  >;
  for (const [name, value] of Object.entries(discovery))
    if (name.endsWith("_endpoint") || name === "jwks_uri") expect(value).toMatch(/^https:\/\/login\.example\.org\//);
});

test("the sign-in to the platform sets a Secure cookie too", async () => {
  const answer = await fetch(`${local}/sign-in`);
  expect(answer.headers.getSetCookie().join("\n")).toMatch(/secure/i);
});
