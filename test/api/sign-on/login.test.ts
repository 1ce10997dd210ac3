import type { Argon2Parameters } from "node:crypto";
import { Piscina } from "piscina";
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import type { PrismaDb } from "../../../src/platform/database/db.ts";
import { setPasswordHash } from "../../../src/accounts/index.ts";
import { makeCheckPassword, sweepSignInTraces, type PasswordCheck } from "../../../src/accounts/index.ts";
import { PasswordQueue } from "../../../src/accounts/login/password-queue.ts";
import { testDatabase } from "../../support/database.ts";
import { recordQueries } from "../../support/explain.ts";
import { makeMakers } from "../../support/make.ts";
import { hashQuickly } from "../../support/quick-hash.ts";
import { setCredential } from "../../support/sign-ins.ts";

const key = Buffer.alloc(32, 7);
const start = new Date("2026-02-03T08:00:00Z");
const school = "203.0.113.10";
const elsewhere = "198.51.100.7";
const slowed: PasswordCheck = { kind: "slowed", retryAfterSeconds: 10 };

const quickHash = await hashQuickly("right");
// Compared for user names that nobody has.
const unmatchable = quickHash.replace(/\$[^$]+$/, `$${"A".repeat(43)}`);

let db: PrismaDb;
let person: PersonId;
let username: string;
let now: Date;
let count = 0;
let checkPassword: ReturnType<typeof makeCheckPassword>;

beforeAll(async () => {
  db = await testDatabase();
});

beforeEach(async () => {
  const make = makeMakers(db);
  now = start;
  username = `pupil.${(count += 1)}`;
  person = await make.person({ school: await make.school() });
  await setPasswordHash(db.pool, { personId: person, username, passwordHash: quickHash, now });
  checkPassword = makeCheckPassword({ db, key, unmatchable });
  await db.pool.query("TRUNCATE sign_in_brake, rate_limit");
});

function attempt(wishes: Partial<Parameters<typeof checkPassword>[0]> = {}): Promise<PasswordCheck> {
  return checkPassword({ username, password: "right", address: school, device: null, now, ...wishes });
}

async function guess(
  times: number,
  wishes: Partial<Parameters<typeof checkPassword>[0]> = {},
): Promise<PasswordCheck[]> {
  const answers: PasswordCheck[] = [];
  for (let index = 0; index < times; index += 1) answers.push(await attempt({ password: `wrong ${index}`, ...wishes }));
  return answers;
}

function later(seconds: number): void {
  now = new Date(now.getTime() + seconds * 1000);
}

test("the right password gives the person, however the user name is typed", async () => {
  expect(await attempt()).toMatchObject({ kind: "ok", personId: person });
  expect(await attempt({ username: ` ${username.toUpperCase()} ` })).toMatchObject({ kind: "ok", personId: person });
});

test("an unknown user name and a wrong password get the same answers, slowing included", async () => {
  const wrong = await guess(7);
  expect(wrong).toEqual([...Array<PasswordCheck>(5).fill({ kind: "refused" }), slowed, slowed]);
  expect(await guess(7, { username: "nobody.at.all" })).toEqual(wrong);
});

test("an unknown user name costs what a wrong password does: the same statements and one hash of the same kind", async () => {
  await setCredential(db.pool, { personId: person, username, password: "right", now });
  checkPassword = makeCheckPassword({ db, key });
  const handed = vi.spyOn(Piscina.prototype, "run");
  onTestFinished(() => handed.mockRestore());
  const costOf = async (name: string) => {
    handed.mockClear();
    const asked = await recordQueries(/./, () => attempt({ username: name, password: "wrong" }));
    const hashes = handed.mock.calls.map(([sent]) => {
      const { input } = sent as { input: Argon2Parameters };
      return { ...input, nonce: Buffer.byteLength(input.nonce) };
    });
    return { hashes, statements: asked.map(({ text }) => text) };
  };
  const known = await costOf(username);
  expect(known.hashes).toMatchObject([{ message: "wrong", passes: 2 }]);
  expect(await costOf("nobody.at.all")).toEqual(known);
});

test("a password longer than any kept one is refused like a wrong one", async () => {
  expect(await attempt({ password: "right".padEnd(100_000, " ") })).toEqual({ kind: "refused" });
});

test("guessing waits longer with each try, and the right password has to wait too", async () => {
  await guess(5);
  expect(await attempt()).toEqual(slowed);
  later(10);
  expect(await guess(2)).toEqual([{ kind: "refused" }, { kind: "slowed", retryAfterSeconds: 20 }]);
  later(20);
  expect(await attempt()).toMatchObject({ kind: "ok" });
});

test("tries that had to wait do not make the wait longer", async () => {
  await guess(5);
  expect(await guess(10)).toEqual(Array(10).fill(slowed));
  later(10);
  expect(await attempt()).toMatchObject({ kind: "ok" });
});

test("signing in forgets the failed tries before it", async () => {
  await guess(4);
  await attempt();
  expect(await guess(5)).toEqual(Array(5).fill({ kind: "refused" }));
});

test("guesses at the same moment do not slip through together", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => attempt({ password: `wrong ${index}` })));
  expect(answers.filter((answer) => answer.kind === "refused")).toHaveLength(5);
});

test("a stranger guessing from elsewhere does not slow the pupil at the usual place", async () => {
  await attempt();
  for (let network = 0; network < 6; network += 1) await guess(6, { address: `198.51.100.${network}` });
  expect(await attempt()).toMatchObject({ kind: "ok", personId: person });
});

test("a stranger guessing from many addresses is slowed across all of them", async () => {
  const answers: PasswordCheck[] = [];
  for (let network = 0; network < 24; network += 1) {
    answers.push(await attempt({ password: "wrong", address: `198.51.100.${network}` }));
  }
  expect(answers.filter((answer) => answer.kind === "refused")).toHaveLength(20);
});

test("a browser that signed in before is not slowed by guesses beside it or by a new address", async () => {
  const first = await attempt();
  const device = first.kind === "ok" ? first.device : null;
  await guess(20);
  expect(await attempt()).toEqual(slowed);
  expect(await attempt({ device })).toMatchObject({ kind: "ok", device });
  for (let network = 0; network < 24; network += 1) await guess(1, { address: `198.51.100.${network}` });
  expect(await attempt({ device, address: "192.0.2.1" })).toMatchObject({ kind: "ok", device });
});

test("a known browser is no licence to guess: it is slowed like any other", async () => {
  const first = await attempt();
  const device = first.kind === "ok" ? first.device : null;
  expect((await guess(6, { device, address: elsewhere })).at(-1)).toEqual(slowed);
});

test("a made-up device cookie is worth nothing", async () => {
  await guess(5, { device: "A".repeat(22) });
  expect(await attempt({ device: "B".repeat(22) })).toEqual(slowed);
  expect(await attempt({ device: "'; DROP TABLE person" })).toEqual(slowed);
});

test("a hundred wrong passwords spread over accounts at one address lock nobody out", async () => {
  await Promise.all(Array.from({ length: 25 }, (_, account) => guess(4, { username: `other.${account}` })));
  expect(await attempt()).toMatchObject({ kind: "ok" });
});

const kindsOf = (answers: readonly PasswordCheck[]) => [...new Set(answers.map(({ kind }) => kind))];

test("a whole school signs in behind one address: 150 accounts in 45 seconds, with typing mistakes", async () => {
  // This is not about who is asked to come back on a slow machine.
  const wait = vi.spyOn(PasswordQueue.prototype, "waitMs").mockReturnValue(0);
  onTestFinished(() => wait.mockRestore());
  const make = makeMakers(db);
  const pupils = await make.people({ school: await make.school(), count: 150 });
  await db.pool.query(
    `INSERT INTO credential (person_id, username, password_hash, updated_at)
     SELECT person_id, 'school.' || number, $2, $3 FROM unnest($1::uuid[]) WITH ORDINALITY AS pupil (person_id, number)`,
    [pupils, quickHash, now],
  );
  const usernames = pupils.map((_, index) => `school.${index + 1}`);
  for (let first = 0; first < usernames.length; first += 20) {
    const together = usernames.slice(first, first + 20);
    const mistyped = together.slice(0, 2).map((username) => attempt({ username, password: "wrong" }));
    expect(kindsOf(await Promise.all(mistyped))).toEqual(["refused"]);
    const signedIn = together.map((username) => attempt({ username }));
    expect(kindsOf(await Promise.all(signedIn))).toEqual(["ok"]);
    later(6);
  }
});

test("one account signing in many times at once is not taken for guessing, in whatever order the tries get their turn", async () => {
  const times = Array.from({ length: 40 }, (_, index) => new Date(now.getTime() + ((index * 17) % 40) * 100));
  const answers = await Promise.all(times.map((time) => attempt({ now: time })));
  expect(kindsOf(answers)).toEqual(["ok"]);
});

test("another process, or the same one after a restart, knows of the failed tries", async () => {
  await guess(5);
  checkPassword = makeCheckPassword({ db, key, unmatchable });
  expect(await attempt()).toEqual(slowed);
});

test("more sign-ins at once than the process can hash are asked to come back, and not counted as failed", async () => {
  checkPassword = makeCheckPassword({ db, key, atOnce: 1, waiting: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => attempt({ username: `crowd.${index}` })));
  expect(answers.filter((answer) => answer.kind === "refused").length).toBeGreaterThanOrEqual(2);
  const turnedAway = answers.findIndex((answer) => answer.kind === "busy");
  expect(await guess(5, { username: `crowd.${turnedAway}` })).toEqual(Array(5).fill({ kind: "refused" }));
});

test("neither user names nor addresses are kept with the tries", async () => {
  await guess(1);
  await attempt();
  const rows = await db.pool.query(
    "SELECT key::text FROM sign_in_brake UNION ALL SELECT place::text FROM sign_in_place",
  );
  const kept = Buffer.from(
    rows.rows.map((row: { key: string }) => row.key.replace("\\x", "")).join(""),
    "hex",
  ).toString("latin1");
  expect(kept).not.toContain(username);
  expect(kept).not.toContain(school);
});

test("forgotten tries and places nobody used for half a year are swept", async () => {
  await guess(1);
  await attempt();
  await guess(1, { address: elsewhere });
  expect(await sweepSignInTraces(db.pool, now, new AbortController().signal)).toBe(0);
  later(200 * 86_400);
  expect(await sweepSignInTraces(db.pool, now, new AbortController().signal)).toBeGreaterThan(2);
  expect((await db.pool.query("SELECT 1 FROM sign_in_brake")).rowCount).toBe(0);
});
