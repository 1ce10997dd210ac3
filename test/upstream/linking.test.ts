import { decodeJwt } from "jose";
import { expect, test, vi } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  acceptGuests,
  listLinks,
  listRefusals,
  unlinkIn,
  updateConnectionIn,
  type ConnectionId,
  type ConnectionUpdate,
} from "../../src/upstream/index.ts";
import { letWait } from "../../src/upstream/guest.ts";
import { recordRefusal } from "../../src/upstream/refusals.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const origin = { at: new Date(), actorId: "test" };
let accounts = 0;

async function makeWorld(wishes: Parameters<typeof party.connect>[2] = {}) {
  const school = await make.school();
  const connection = await party.connect(provider, school, wishes);
  const pupil = async (sourceSystemIdentifier: string | null, more: Parameters<typeof make.person>[0] = {}) => {
    const personId = await make.person({ school, sourceSystemIdentifier, ...more });
    await giveLogin(db, personId);
    return personId;
  };
  /** A new account at the provider; `claims` of a second call are those that it has now. */
  const account = `account-${++accounts}`;
  const signIn = (claims: object, who = account) => {
    provider.account = who;
    provider.claims[who] = claims as Record<string, unknown>;
    return party.codeOf(party.signIn(provider, connection));
  };
  const refusals = () => listRefusals(db, { connectionId: connection, limit: 10 }, encryptionKeys);
  const linked = async () =>
    (await listLinks(db, { connectionId: connection, limit: 10 })).map(({ personId }) => personId);
  return { school, connection, pupil, account, signIn, refusals, linked };
}

const inTransaction = <T>(work: Parameters<typeof withPrismaTransaction<T>>[1]) => withPrismaTransaction(db, work);
const change = (id: ConnectionId, update: ConnectionUpdate) =>
  inTransaction((tx) => updateConnectionIn(tx, { id, update }, party.context()));

test("nobody and several are refused, with what came on the list of the school", async () => {
  const { pupil, signIn, refusals, linked, account } = await makeWorld({ normalisations: ["WITHOUT_LEADING_ZEROS"] });
  await pupil("0042");
  await pupil("42");
  expect(await signIn({ employee_id: "43", name: "Bo Muster" })).toBe("NOBODY_MATCHES");
  expect(await signIn({ employee_id: "42", name: "Bo Muster" })).toBe("SEVERAL_MATCH");
  expect(await signIn({ employee_id: "42", name: "Bo Muster" })).toBe("SEVERAL_MATCH");
  const shown = { subject: account, ruleClaim: "employee_id", displayName: "Bo Muster" };
  expect(await refusals()).toMatchObject([
    { ...shown, code: "SEVERAL_MATCH", tries: 2, ruleValue: "42", matches: 2 },
    { ...shown, code: "NOBODY_MATCHES", tries: 1, ruleValue: "43", matches: 0 },
  ]);
  expect(await linked()).toEqual([]);
});

test("an account that another tab links in the middle of a sign-in signs in", async () => {
  const { pupil, signIn, linked, account, connection } = await makeWorld();
  const personId = await pupil("42");
  const link = { connectionId: connection, issuer: provider.issuer, subject: account, personId };
  const query = db.pool.query.bind(db.pool) as (asked: { name?: string }) => Promise<unknown>;
  const asking = vi.spyOn(db.pool, "query").mockImplementation((async (asked: { name?: string }) => {
    const answer = await query(asked);
    if (asked.name === "upstream.findLinked") {
      asking.mockRestore();
      await db.prisma.upstreamLink.create({ data: { ...link, linkedAt: new Date(), linkedBy: "RULE" } });
    }
    return answer;
  }) as never);
  expect(await signIn({ employee_id: "42" })).toBe("signed_in");
  expect(await linked()).toEqual([personId]);
});

test("blocked people, other classes and service-wide roles are refused, linked or not", async () => {
  const { school, pupil, signIn, connection } = await makeWorld();
  const [group, another] = [await make.group({ school }), await make.group({ school })];
  const personId = await pupil("1", { groups: [group] });
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  await change(connection, { groupIds: [another] });
  expect(await signIn({ employee_id: "1" })).toBe("NOT_IN_CLASSES");
  await change(connection, { groupIds: [group] });
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  await db.prisma.person.update({ where: { id: personId }, data: { blockedAt: origin.at } });
  expect(await signIn({ employee_id: "1" })).toBe("BLOCKED");
  await db.prisma.person.update({ where: { id: personId }, data: { blockedAt: null } });
  const temporary = { reason: "A question.", endsAt: new Date(Date.now() + 86_400_000) };
  for (const role of ["OPERATOR", "SUPPORT", "DISTRICT", "PARTNER"] as const) {
    const id = crypto.randomUUID();
    await db.prisma.staffRole.create({
      data: { id, role, personId, givenAt: origin.at, ...(role === "SUPPORT" && temporary) },
    });
    expect(await signIn({ employee_id: "1" })).toBe("NOBODY_MATCHES");
    expect(await signIn({ employee_id: "1" }, "unlinked")).toBe("NOBODY_MATCHES");
    await db.prisma.staffRole.delete({ where: { id } });
  }
  const secretary = { id: crypto.randomUUID(), role: "SECRETARY" as const, personId, givenAt: origin.at };
  await db.prisma.staffRole.create({ data: secretary });
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
});

test("a second account for a linked person is refused until the first is unlinked, which ends its session", async () => {
  const { pupil, signIn, connection, linked } = await makeWorld();
  const personId = await pupil("1");
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  expect(await signIn({ employee_id: "1" }, "second")).toBe("LINKED_TO_ANOTHER");
  await inTransaction((tx) => unlinkIn(tx, { connectionId: connection, personId }, origin));
  expect(await db.prisma.upstreamSession.count({ where: { personId, endedAt: null } })).toBe(0);
  expect(await signIn({ employee_id: "1" }, "second")).toBe("signed_in");
  expect(await linked()).toEqual([personId]);
  const again = inTransaction((tx) =>
    unlinkIn(tx, { connectionId: connection, personId: crypto.randomUUID() as PersonId }, origin),
  );
  await expect(again).rejects.toMatchObject({ code: "upstream_link_not_found" });
});

test("a person who left the school is not signed in by the link, and comes back with it", async () => {
  const { pupil, signIn } = await makeWorld();
  const personId = await pupil("1");
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  await db.prisma.person.update({
    where: { id: personId },
    data: { status: "SOFT_DELETED", softDeletedAt: origin.at, purgeAt: origin.at },
  });
  expect(await signIn({ employee_id: "1" })).toBe("NOBODY_MATCHES");
  await db.prisma.person.update({
    where: { id: personId },
    data: { status: "ACTIVE", softDeletedAt: null, purgeAt: null },
  });
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
});

test("a person who moves to another school leaves no link behind: the account is free for the next", async () => {
  const { school, pupil, signIn, linked } = await makeWorld();
  const homeSchoolId = await make.school();
  const [moves, stays] = [await pupil("1", { schools: [school, homeSchoolId] }), await pupil("2")];
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  await db.prisma.person.update({ where: { id: moves }, data: { homeSchoolId } });
  expect(await linked()).toEqual([]);
  expect(await signIn({ employee_id: "2" })).toBe("signed_in");
  expect(await linked()).toEqual([stays]);
});

test("a person without a user name gets one with the link", async () => {
  const { school, signIn } = await makeWorld();
  const personId = await make.person({ school, sourceSystemIdentifier: "1" });
  expect(await signIn({ employee_id: "1" })).toBe("signed_in");
  expect(await db.prisma.credential.findUnique({ where: { personId } })).toMatchObject({ passwordHash: null });
});

test("guests are made only where the school wants it, without a class, and wait for staff", async () => {
  const { school, signIn, connection, account, refusals } = await makeWorld();
  const people = (id: SchoolId) =>
    db.prisma.person.findMany({ where: { homeSchoolId: id }, include: { affiliations: true } });
  const claims = { employee_id: "new", given_name: "Bo", family_name: "Muster" };
  expect(await signIn(claims)).toBe("NOBODY_MATCHES");
  expect(await people(school)).toEqual([]);
  // A provider that only a set-up link has named fills no school with people.
  await change(connection, { createsGuests: true, confirmedForStaff: false });
  expect(await signIn(claims)).toBe("NOBODY_MATCHES");
  expect(await people(school)).toEqual([]);
  await change(connection, { confirmedForStaff: true });
  provider.account = account;
  const tabs = await Promise.all([1, 2].map(() => party.codeOf(party.signIn(provider, connection))));
  expect(tabs).toEqual(["WAITS_FOR_STAFF", "WAITS_FOR_STAFF"]);
  expect(await people(school)).toEqual([]);
  const waits = (await refusals()).filter(({ code }) => code === "WAITS_FOR_STAFF");
  expect(waits).toMatchObject([{ subject: account, displayName: "Bo Muster", tries: 2 }]);
  const refusalIds = waits.map(({ id }) => id);
  const accept = () =>
    changeDirectory(db, origin, (change) =>
      acceptGuests(change, { connectionId: connection, refusalIds }, encryptionKeys),
    );
  const [first, second] = await Promise.allSettled([accept(), accept()]);
  expect([first, second].map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const [guest, ...others] = await people(school);
  expect(others).toEqual([]);
  expect(guest).toMatchObject({ firstCall: "Bo", last: "Muster", role: "OTHER", sourceSystemIdentifier: null });
  expect(await db.prisma.membership.count({ where: { personId: guest!.id } })).toBe(0);
  expect(await refusals()).toEqual([]);
  expect(await signIn(claims)).toBe("signed_in");
  // An account that is linked to somebody who has left does not wait: nobody could accept it.
  await db.prisma.person.update({
    where: { id: guest!.id },
    data: { status: "SOFT_DELETED", softDeletedAt: origin.at, purgeAt: origin.at },
  });
  expect(await signIn(claims)).toBe("NOBODY_MATCHES");
});

test("of many invented accounts 30 wait, and in hours 100; further ones push out none of them", async () => {
  const { connection, school } = await makeWorld({ createsGuests: true });
  const { issuer } = provider;
  const arrive = (count: number, now: Date) =>
    Promise.all(
      Array.from({ length: count }, () => {
        const account = { issuer, subject: `invented-${++accounts}`, claims: { name: "Bo Muster" } };
        const refused = { account, matches: 0, value: null, now };
        const shown = { id: connection, subjectClaim: "sub", ruleClaim: "employee_id" };
        return letWait(db, { ...refused, connection: shown }, encryptionKeys);
      }),
    );
  const waiting = () =>
    db.prisma.upstreamRefusal.count({ where: { connectionId: connection, code: "WAITS_FOR_STAFF" } });
  const start = Date.now();
  const admitted = await arrive(40, new Date(start));
  expect([admitted.filter(Boolean).length, await waiting()]).toEqual([30, 30]);
  for (let hour = 1; hour <= 4; hour++) await arrive(40, new Date(start + hour * 3_600_000));
  expect(await waiting()).toBe(100);
  await db.pool.query(
    `INSERT INTO upstream_refusal (id, connection_id, code, subject_hash, details, first_at, last_at, tries)
     SELECT gen_random_uuid(), $1, 'NOBODY_MATCHES', sha256(n::text::bytea), '', now(), now(), 1
     FROM generate_series(1, 600) n`,
    [connection],
  );
  const shown = { id: connection, subjectClaim: "sub", ruleClaim: "employee_id" };
  const last = { issuer, subject: "the last", claims: {} };
  const refused = { connection: shown, account: last, code: "NOBODY_MATCHES" as const, matches: 0, value: null };
  await recordRefusal(db.pool, { ...refused, now: new Date() }, encryptionKeys);
  expect(await waiting()).toBe(100);
  expect(await db.prisma.upstreamRefusal.count({ where: { connectionId: connection } })).toBe(600);
  expect(await db.prisma.person.count({ where: { homeSchoolId: school } })).toBe(0);
});

test("an account that was proven before the connection got another issuer is not linked afterwards", async () => {
  const { pupil, signIn, connection, linked } = await makeWorld();
  await pupil("1");
  provider.after = async (path, body) => {
    if (path === "/token") await change(connection, { issuer: "http://127.0.0.1:9/moved" });
    return body;
  };
  expect(await signIn({ employee_id: "1" })).toBe("EXPIRED");
  provider.after = null;
  expect(await linked()).toEqual([]);
});

test("a second factor at the provider counts where the operator trusts the connection, and only then", async () => {
  const { connection, pupil, account } = await makeWorld();
  await pupil("1");
  provider.account = account;
  provider.claims[account] = { employee_id: "1" };
  const amrFor = async (claims: object) => {
    provider.after = async (path, body) =>
      path === "/token"
        ? { ...body, id_token: await provider.sign({ ...decodeJwt(body["id_token"] as string), ...claims }) }
        : body;
    const finished = await party.signIn(provider, connection);
    provider.after = null;
    return finished.kind === "signed_in" ? finished.amr : finished;
  };
  expect(await amrFor({ amr: ["pwd", "mfa"] })).toEqual(["upstream"]);
  await change(connection, { trustedForSecondFactor: true });
  expect(await amrFor({ amr: ["pwd", "mfa"] })).toEqual(["upstream", "mfa"]);
  expect(await amrFor({ acr: "https://refeds.org/profile/mfa" })).toEqual(["upstream", "mfa"]);
  for (const claims of [{}, { amr: ["pwd"] }, { amr: "mfa" }, { acr: "0" }])
    expect(await amrFor(claims)).toEqual(["upstream"]);
});
