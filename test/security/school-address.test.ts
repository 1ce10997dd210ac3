// @module-tag slow
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { makeCheckPassword, type PasswordCheck, sweepSignInTraces } from "../../src/accounts/index.ts";
import { PasswordQueue } from "../../src/accounts/login/password-queue.ts";
import { testDatabase } from "../support/database.ts";
import { chanceOf } from "../support/chance.ts";
import { makeMakers } from "../support/make.ts";
import { hashQuickly } from "../support/quick-hash.ts";

const start = new Date("2026-02-03T08:00:00Z");
const school = "203.0.113.10";
const quickHash = await hashQuickly("password");

let db: PrismaDb;
let now: Date;
let checkPassword: ReturnType<typeof makeCheckPassword>;
let rounds = 0;

beforeAll(async () => {
  db = await testDatabase();
  // On a busy machine those who try at once would be told to come again because the checks are slow.
  vi.spyOn(PasswordQueue.prototype, "waitMs").mockReturnValue(0);
});

beforeEach(async () => {
  now = start;
  await db.pool.query("TRUNCATE sign_in_brake, rate_limit, sign_in_place");
  checkPassword = makeCheckPassword({
    db,
    key: Buffer.alloc(32, 7),
    unmatchable: quickHash.replace(/\$[^$]+$/, `$${"A".repeat(43)}`),
  });
});

type Attempt = Parameters<typeof checkPassword>[0];
const attempt = (username: string, wishes: Partial<Attempt> = {}): Promise<PasswordCheck> =>
  checkPassword({ username, password: "password", address: school, device: null, now, ...wishes });
const guess = (username: string, wishes: Partial<Attempt> = {}) => attempt(username, { password: "wrong", ...wishes });
const later = (seconds: number): void => void (now = new Date(now.getTime() + seconds * 1000));
const kinds = (answers: readonly PasswordCheck[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of answers) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

async function makePupils(count: number): Promise<string[]> {
  const make = makeMakers(db);
  const pupils = await make.people({ school: await make.school(), count });
  const name = `round.${(rounds += 1)}.`;
  await db.pool.query(
    `INSERT INTO credential (person_id, username, password_hash, updated_at)
     SELECT person_id, $4 || number, $2, $3 FROM unnest($1::uuid[]) WITH ORDINALITY AS pupil (person_id, number)`,
    [pupils, quickHash, now, name],
  );
  return pupils.map((_, index) => `${name}${index + 1}`);
}

/** One pupil sends wrong passwords, each for a name of its own, until the address is held up. */
async function drain(address: (index: number) => string = () => school, most = 1200): Promise<number> {
  for (let sent = 0; sent < most; sent += 20) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => guess(`drain.${sent + index}`, { address: address(sent + index) })),
    );
    if (answers.some(({ kind }) => kind === "slowed")) return sent + 20;
  }
  throw new Error("the address was never slowed");
}

/**
 * 200 seconds in which a pupil guesses twice a second; each newcomer comes once, and once more when the page says so.
 * Answers how many got in.
 */
async function letIn(newcomers: readonly string[]): Promise<number> {
  const begin = now.getTime();
  type Try = { at: number; username: string; isAgain: boolean };
  const tries: Try[] = newcomers.map((username, index) => ({
    at: (index + chanceOf("newcomer", index)) * 3000,
    username,
    isAgain: false,
  }));
  let entered = 0;
  for (let guesses = 0; guesses < 400 || tries.length > 0;) {
    tries.sort((left, right) => left.at - right.at);
    const nextGuess = guesses < 400 ? (guesses + 0.5) * 500 : Infinity;
    const [next] = tries;
    now = new Date(begin + Math.min(nextGuess, next?.at ?? Infinity));
    if (!next || nextGuess < next.at) {
      await guess(`spam.${(guesses += 1)}`);
      continue;
    }
    tries.shift();
    const answer = await attempt(next.username);
    if (answer.kind === "ok") entered += 1;
    else if (answer.kind === "slowed" && !next.isAgain)
      tries.push({ ...next, at: next.at + answer.retryAfterSeconds * 1000, isAgain: true });
  }
  return entered;
}

let isKept = false;

/** The address as `drain` leaves it, which costs hundreds of tries the first time only. */
async function beDrained(): Promise<void> {
  const tables = ["sign_in_brake", "rate_limit"];
  if (!isKept) await drain();
  for (const name of tables)
    await db.pool.query(
      isKept
        ? `DELETE FROM ${name}; INSERT INTO ${name} SELECT * FROM drained_${name}`
        : `CREATE TABLE drained_${name} AS TABLE ${name}`,
    );
  isKept = true;
}

test("one pupil who keeps on guessing does not lock the newcomers out of a school that nobody signed in to before", async () => {
  const newcomers = await makePupils(66);
  expect(await drain()).toBeLessThanOrEqual(540);
  expect(await letIn(newcomers)).toBeGreaterThan(50);
});

test("where others of the school have signed in, all newcomers get in", async () => {
  const pupils = await makePupils(72);
  for (const username of pupils.slice(0, 6)) expect(await attempt(username)).toMatchObject({ kind: "ok" });
  await beDrained();
  expect(await letIn(pupils.slice(6))).toBe(66);
  const [stranger] = await makePupils(1);
  await drain();
  expect(await attempt(stranger!)).toMatchObject({ kind: "slowed" });
});

test("the wait at a drained address is short, and tries do not make it longer", async () => {
  await beDrained();
  const answers = [];
  for (let index = 0; index < 100; index += 1) answers.push(await guess(`more.${index}`));
  expect(answers.filter((answer) => answer.kind !== "slowed" || answer.retryAfterSeconds > 2)).toEqual([]);
  later(2);
  expect(await guess("after.the.wait")).toEqual({ kind: "refused" });
});

test("a drained address comes back at about its free rate", async () => {
  await beDrained();
  later(60);
  const answers = [];
  for (let index = 0; index < 150; index += 1) answers.push(await guess(`again.${index}`));
  expect(kinds(answers)).toMatchObject({
    refused: expect.toSatisfy((count: number) => count >= 95 && count <= 105) as number,
  });
});

test("sign-ins that succeed leave the address as it was", async () => {
  const pupils = await makePupils(200);
  const answers = [];
  for (const username of pupils) answers.push(await attempt(username));
  expect(kinds(answers)).toEqual({ ok: 200 });
  // In turns, because only so many wait for their password to be checked.
  const guesses = [];
  for (let turn = 0; turn < 4; turn += 1)
    guesses.push(
      ...(await Promise.all(Array.from({ length: 50 }, (_, index) => guess(`still.free.${turn}.${index}`)))),
    );
  expect(kinds(guesses)).toEqual({ refused: 200 });
});

test("a device that signed in before is not held up by its address, whoever signs in with it", async () => {
  const [first, second] = (await makePupils(2)) as [string, string];
  const signedIn = await attempt(first);
  if (signedIn.kind !== "ok") throw new Error(signedIn.kind);
  await beDrained();
  expect(await attempt(first, { device: signedIn.device })).toMatchObject({ kind: "ok" });
  expect(await attempt(second, { device: signedIn.device })).toMatchObject({ kind: "ok" });
  const guesses = [];
  for (let index = 0; index < 40; index += 1) guesses.push(await guess(`device.${index}`, { device: signedIn.device }));
  expect(kinds(guesses)["slowed"]).toBeGreaterThan(10);
});

test("a name known at the address, another one and one that does not exist get the same answers at a drained address", async () => {
  const [known, unknown] = (await makePupils(2)) as [string, string];
  expect(await attempt(known)).toMatchObject({ kind: "ok" });
  await beDrained();
  const answersOf = async (username: string) => {
    const answers = [];
    for (let index = 0; index < 8; index += 1) answers.push(await guess(username));
    return answers;
  };
  const [one, two, three] = [await answersOf(known), await answersOf(unknown), await answersOf("nobody.at.all")];
  expect([two, three]).toEqual([one, one]);
  expect(await attempt(known)).toEqual(one[0]);
  later(40);
  expect(await attempt(known)).toMatchObject({ kind: "ok" });
});

test("a name known at the address answers like others while its account is guessed at from elsewhere", async () => {
  const [known, unknown] = (await makePupils(2)) as [string, string];
  expect(await attempt(known)).toMatchObject({ kind: "ok" });
  const names = [known, unknown, "nobody.at.all"];
  for (const username of names)
    for (let network = 0; network < 30; network += 1) await guess(username, { address: `198.51.100.${network}` });
  const answers = [];
  for (const username of names) answers.push(await guess(username));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]!.kind).toBe("slowed");
  expect(await attempt(known)).toMatchObject({ kind: "ok" });
});

test("the networks of one IPv6 site are slowed together", async () => {
  const sent = await drain((index) => `2001:db8:7:${(index % 60).toString(16)}::${index.toString(16)}`);
  expect(sent).toBeLessThanOrEqual(1060);
  expect(await guess("from.a.fresh.network", { address: "2001:db8:7:ffff::1" })).toMatchObject({ kind: "slowed" });
  expect(await guess("from.another.site", { address: "2001:db8:8::1" })).toEqual({ kind: "refused" });
});

test("tries that are held up leave no rows, and what guessing leaves is swept", async () => {
  await beDrained();
  const count = async () =>
    (
      await db.pool.query<{ count: number }>(
        "SELECT (SELECT count(*) FROM sign_in_brake)::int + (SELECT count(*) FROM rate_limit)::int AS count",
      )
    ).rows[0]!.count;
  for (let index = 0; index < 200; index += 1) await guess(`fill.${index}`);
  const before = await count();
  for (let index = 0; index < 50; index += 1) await guess(`held.${index}`);
  expect(await count()).toBe(before);
  later(86_400);
  await sweepSignInTraces(db.pool, now, new AbortController().signal);
  expect(await count()).toBe(0);
});
