/**
 * npm run drill -- foreign-login
 *
 * Debian's package glewlwyd as the login that a school has elsewhere: a pupil whom the roster names signs in to an app
 * through it, by the rule and then by the link, and another account is refused.
 */
import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { Agent } from "undici";
import type { ClientId } from "../../src/access/index.ts";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import {
  addressesOf,
  createConnectionIn,
  putWayInIn,
  updateConnectionIn,
  type ConnectionId,
  type ConnectionUpdate,
} from "../../src/upstream/index.ts";
import { openBenchDatabase } from "../../bench/database.ts";
import { startSubject, type Subject } from "../../bench/harness.ts";
import { makeBrowser } from "../../bench/monday/browser.ts";
import { openGlewlwyd } from "../../bench/peers/glewlwyd.ts";
import { peerApp } from "../../bench/peers/peer.ts";
import { authorizationUrl, redeemCode } from "../../bench/sign-on.ts";
import { makeMakers } from "../support/make.ts";
import type { TestApp } from "../support/token.ts";
import { withDatabase } from "../support/test-server.ts";
import { runDrill, type Ends } from "./shared/ends.ts";

const { encryptionKeys: keys } = readConfig({ ...process.env, NODE_ENV: "development" });
const agent = new Agent();
const context = () => ({ keys, allowHttp: true, origin: { at: new Date(), actorId: "drill" } });
const ruleClaim = { ruleClaim: "name", ruleField: "SOURCE_SYSTEM_IDENTIFIER" as const };

type Stage = { db: PrismaDb; service: Subject; app: TestApp; school: SchoolId; linkName: string };
type Glewlwyd = Awaited<ReturnType<typeof openGlewlwyd>>;

async function prepare(ends: Ends): Promise<Stage & { databaseUrl: string; pupil: PersonId }> {
  const database = await ends.keep(openBenchDatabase(), ({ close }) => close());
  const { db, url } = database;
  const env = { DATABASE_URL: url, LOG_LEVEL: "warn", WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const service = await ends.keep(startSubject("service", "./subjects/service.ts", env), ({ stop }) => stop());
  await db.pool.query("CREATE DATABASE glewlwyd");
  const make = makeMakers(db);
  const school = await make.school();
  const linkName = `school-${school}`;
  const pupil = await make.person({ school, sourceSystemIdentifier: "4711" });
  const app = await make.app({ clientId: "drill" as ClientId });
  await make.grant({ app: app.clientId, school });
  await withPrismaTransaction(db, (tx) =>
    putWayInIn(tx, { schoolId: school, linkName, localPasswords: true }, context().origin),
  );
  return { db, service, app, school, linkName, pupil, databaseUrl: withDatabase(url, "glewlwyd") };
}

const update = ({ db }: Stage, id: ConnectionId, changed: ConnectionUpdate) =>
  withPrismaTransaction(db, (tx) => updateConnectionIn(tx, { id, update: changed }, context()));

/** As the IT contact does: the addresses of the connection there, issuer and secret here. */
async function connect(stage: Stage, start: (redirectUri: string) => Promise<Glewlwyd>) {
  const { db, service, school } = stage;
  const made = { schoolId: school, profile: "OIDC" as const, name: "Glewlwyd", ...ruleClaim };
  const id = await withPrismaTransaction(db, (tx) => createConnectionIn(tx, made, context()));
  const glewlwyd = await start(addressesOf(service.url, id).redirectUri);
  const { clientId, clientSecret } = peerApp;
  await update(stage, id, { issuer: glewlwyd.issuer, clientId, clientSecret: clientSecret! });
  await db.prisma.upstreamConnection.update({ where: { id }, data: { testedAt: new Date() } });
  await update(stage, id, { state: "ON" });
  return { id, glewlwyd };
}

/** Signs on over glewlwyd, in which the browser has the session of the cookies; where it ends. */
async function signOn({ service, app, linkName }: Stage, id: ConnectionId, cookies: string) {
  const browser = makeBrowser(service, agent);
  await browser.open(`/s/${linkName}`);
  const { address, verifier } = authorizationUrl({ url: service.url, app });
  const there = await browser.post(await browser.open(address), "/upstream", { connection: id });
  // Without it, glewlwyd shows the page on which a person chooses a session.
  there.url.searchParams.set("g_continue", "");
  const answer = await fetch(there.url, { headers: { cookie: cookies }, redirect: "manual" });
  const back = answer.headers.get("location");
  assert(back !== null, `glewlwyd answered ${answer.status} ${await answer.text()}`);
  const shown = await browser.open(back).catch((error: unknown) => String(error));
  if (typeof shown === "string") return { refusal: shown };
  const consented = shown.html.includes('/consent"') ? await browser.post(shown, "/consent") : shown;
  const code = consented.url.searchParams.get("code") ?? "";
  return { ...(await redeemCode({ url: service.url, app, cookies: "" }, { code, verifier })), refusal: null };
}

await runDrill(async (ends) => {
  const folder = mkdtempSync(join(tmpdir(), "schultor-drill-"));
  ends.add(() => agent.close());
  ends.add(() => rmSync(folder, { recursive: true, force: true }));
  const stage = await prepare(ends);
  const { db, pupil, databaseUrl } = stage;
  const { id, glewlwyd } = await connect(stage, (redirectUri) =>
    ends.keep(openGlewlwyd({ databaseUrl, folder }, { redirect_uri: [redirectUri] }), ({ stop }) => stop()),
  );
  const known = await glewlwyd.signUp({ username: "ada", name: "4711" });
  const unknown = await glewlwyd.signUp({ username: "bo", name: "4712" });

  const signedOn = await signOn(stage, id, known);
  assert.equal(signedOn.refusal, null);
  assert.equal(decodeJwt(signedOn.fields["id_token"] as string).sub, pupil);
  assert.equal((await signOn(stage, id, known)).refusal, null, "the second time, by the link");
  const [link, ...others] = await db.prisma.upstreamLink.findMany();
  assert.deepEqual([link?.issuer, link?.personId, others.length], [glewlwyd.issuer, pupil, 0]);

  const refused = await signOn(stage, id, unknown);
  assert.match(refused.refusal ?? "", /callback was answered 403/);
  const refusals = await db.prisma.upstreamRefusal.findMany({ select: { code: true } });
  assert.deepEqual(refusals, [{ code: "NOBODY_MATCHES" }]);
  console.log("glewlwyd signed in the pupil whom the roster names, twice, and not the other");
  return true;
});
