// @module-tag slow
import { expect, test } from "vitest";
import { check, type Finding } from "../drills/failover/checks.ts";
import { cookieOf, startLoad, type Ledger } from "../drills/failover/load.ts";
import { startReceiver } from "../drills/failover/receiver.ts";
import { makeWorld, type World } from "../drills/failover/world.ts";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { hashId } from "../../src/sign-on/protocol/storage/artifact.ts";
import { setCredential } from "../support/sign-ins.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { startMain } from "../support/program.ts";
import { signOn } from "../support/token.ts";

const faultsOf = (findings: Finding[]) => findings.filter(({ faults }) => faults.length > 0).map(({ claim }) => claim);

const isEnough = ({ revoked, loggedOut, passwords, created, accessTokens }: Ledger): boolean =>
  [revoked, loggedOut, created, accessTokens].every((all) => all.length >= 2) &&
  [...passwords.values()].some(({ times }) => times >= 2);

type Stage = { db: TestDatabase; url: string; world: World; ledger: Ledger };

/** Takes back one thing of each kind that was acknowledged, as a failover that loses commits would. */
async function plantLosses({ db, url, world, ledger }: Stage): Promise<void> {
  await db.pool.query("DELETE FROM oidc_artifact WHERE id_hash = $1", [hashId(ledger.accessTokens[0]!)]);
  ledger.revoked.push(ledger.accessTokens[1]!);
  const { browser } = await signOn({ url }, world.app, world.leaving.login, { scopes: ["openid", "offline_access"] });
  ledger.loggedOut.push({ personId: world.people[0]!, cookie: cookieOf(browser) });
  const [personId, { username, previous }] = [...ledger.passwords][0]!;
  await setCredential(db.pool, { personId: personId as PersonId, username, password: previous!, now: new Date() });
  await db.pool.query("DELETE FROM person WHERE id = $1", [ledger.created[0]]);
}

test("the failover drill finds a token, a revocation, a logout, a password, a person and audit lines that were acknowledged and lost", async () => {
  const db = await testDatabase();
  const receiver = await startReceiver();
  atFileEnd(async () => receiver.close());
  const { encryptionKeys } = readConfig({ NODE_ENV: "development" });
  const world = await makeWorld(db.url, receiver.url, encryptionKeys);
  const { url } = await startMain({ DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
  const { ledger, stop } = await startLoad([url], world);
  await expect.poll(() => isEnough(ledger), { interval: 200 }).toBe(true);
  await stop();
  const given = { url: db.url, service: url, world, ledger, arrived: receiver.arrived };
  const clean = await check(given);
  expect(clean.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(clean.every(({ of }) => of > 0)).toBe(true);

  await plantLosses({ db, url, world, ledger });
  expect(faultsOf(await check(given))).toEqual([
    "no acknowledged change is lost",
    "every acknowledged access token still works",
    "every revoked access token is still refused",
    "every session that was logged out is still ended",
    "the last acknowledged password is taken, and not the one before",
    "every acknowledged change, logout and password has its line in the audit log",
  ]);
  const [{ faults }] = (await check(given)).slice(-1) as [Finding];
  expect(faults).toEqual([`0 of 1 logged_out of ${world.people[0]!}`]);
});
