// Sign-on and the IDM API in one express app; with BENCH_FRONT_DOOR=1 behind the middleware of
// express-openapi-validator.
import type { AddressInfo } from "node:net";
import express from "express";
import { middleware } from "express-openapi-validator";
import { readConfig } from "../../src/config/index.ts";
import { makeIdmRouter } from "../../src/idm/index.ts";
import { loadDocument, makeReading } from "../../src/platform/http/index.ts";
import { silentLog as log } from "../../src/platform/telemetry/log.ts";
import { openShares } from "../../src/platform/database/shares.ts";
import { makeSignOn } from "../../src/sign-on/index.ts";
import { makeUpstream } from "../../src/upstream/index.ts";

const config = readConfig({ ...process.env, NODE_ENV: "development", DEMO_WORLD: "false" });
const clock = () => new Date();
const shares = openShares({
  url: process.env["DATABASE_URL"]!,
  replicaUrl: undefined,
  poolSize: config.databasePoolSize,
  role: "all",
});
const load = (name: string) => loadDocument(name, config.platform);
const checked = { log, checkAnswers: false };
const upstream = makeUpstream({ ...config, db: shares.signOn, jobsDb: shares.jobs, clock, log });
const signOn = await makeSignOn({ ...config, ...checked, shares, clock, document: await load("sign-on"), upstream });
const idm = makeIdmRouter({
  ...checked,
  reading: makeReading(shares.reads, config.lists),
  changes: shares.changes,
  clock,
  restoreWindowDays: config.restoreWindowDays,
  makePseudonym: signOn.makePseudonym,
  checkToken: signOn.checkAccessToken,
  document: await load("idm"),
  cursorKeys: config.encryptionKeys,
  issuerUrl: config.issuerUrl,
});

const app = express().disable("etag").disable("x-powered-by");
app.use(signOn.router);
if (process.env["BENCH_FRONT_DOOR"] === "1") {
  const apiSpec = (await load("idm")) as unknown as Parameters<typeof middleware>[0]["apiSpec"];
  app.use(middleware({ apiSpec, validateSecurity: false, validateApiSpec: false, fileUploader: false }));
}
app.use(idm);
const server = app.listen(0, "127.0.0.1", () =>
  process.send?.({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` }),
);
process.once("SIGTERM", () => process.exit(0));
process.once("disconnect", () => process.exit(1));
