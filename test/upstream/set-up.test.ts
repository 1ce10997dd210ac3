import { expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  closeSetUpLinkIn,
  createConnectionIn,
  findConnection,
  findSchoolByLinkName,
  findSchoolsByWords,
  findTestedSignIn,
  forgetLostUpstreamSecrets,
  listSetUpLinks,
  listWaysIn,
  putWayInIn,
  reEncryptUpstreamSecrets,
  updateConnectionIn,
  type ConnectionUpdate,
  type NewConnection,
  type SetUpLinkId,
} from "../../src/upstream/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const origin = { at: new Date(), actorId: "test" };
const inTransaction = <T>(work: Parameters<typeof withPrismaTransaction<T>>[1]) => withPrismaTransaction(db, work);

test("a test sign-in with another name does not tell whether somebody is blocked, in a class or linked", async () => {
  const school = await make.school();
  const name = { firstFull: "Bo", firstCall: "Bo", last: "Muster" };
  const personId = await make.person({ school, sourceSystemIdentifier: "17", name, role: "TEACHER" });
  const connection = await party.connect(provider, school);
  const test = await party.openLink(connection);
  const where = { id: personId };
  const groupIds = [await make.group({ school })];
  const link = { connectionId: connection, issuer: provider.issuer, subject: "other", personId };
  const states: Record<string, () => Promise<unknown>> = {
    BLOCKED: () => db.prisma.person.update({ where, data: { blockedAt: origin.at } }),
    NOT_IN_CLASSES: async () => {
      await db.prisma.person.update({ where, data: { blockedAt: null } });
      await db.prisma.upstreamConnection.update({ where: { id: connection }, data: { groupIds } });
    },
    LINKED_TO_ANOTHER: async () => {
      await db.prisma.upstreamConnection.update({ where: { id: connection }, data: { groupIds: [] } });
      await db.prisma.upstreamLink.create({ data: { ...link, linkedAt: origin.at, linkedBy: "RULE" } });
    },
  };
  provider.account = "guess";
  const testWith = async (claims: object) => {
    provider.claims["guess"] = { employee_id: "17", ...claims };
    await party.signIn(provider, connection, { to: { test } });
    return (await findTestedSignIn(db, test, encryptionKeys))!.match;
  };
  for (const [code, reach] of Object.entries(states)) {
    await reach();
    expect(await testWith({ name: "Al Guess" })).toEqual({ kind: "one", personId, name: null });
    expect(await testWith({ name: "Bo Muster" })).toEqual({ kind: "refused", code, matches: 1 });
  }
});

test("a set-up link is for 20 test sign-ins, however many come back at once, and those of another link do not count", async () => {
  const connection = await party.connect(provider, await make.school(), { state: "DRAFT" });
  const [test, other] = [await party.openLink(connection), await party.openLink(connection)];
  await db.prisma.upstreamSetUpLink.update({ where: { id: test }, data: { tests: 18 } });
  provider.account = "tester";
  const left = await Promise.all(["1", "2", "3"].map(() => party.begin(connection, { to: { test } })));
  const back = await Promise.all(left.map((url) => provider.visit(url)));
  const codes = await Promise.all(back.map((params) => party.codeOf(party.finish(connection, params))));
  expect(codes.sort()).toEqual(["TEST_LIMIT", "tested", "tested"]);
  expect(await party.codeOf(party.signIn(provider, connection, { to: { test: other } }))).toBe("tested");
  expect((await db.prisma.upstreamSetUpLink.findUniqueOrThrow({ where: { id: test } })).tests).toBe(20);
});

test("a change ends what depended on the setting, and a set-up link takes the confirmation back", async () => {
  // `src/upstream/what-changes-end.ts` names every column; these are all that can be changed.
  const changes: Record<keyof ConnectionUpdate, [change: ConnectionUpdate, ends: string]> = {
    issuer: [{ issuer: "http://127.0.0.1:9/other" }, "secret test links trust confirmation"],
    tenant: [
      { tenant: "22222222-2222-4333-8444-555555555555", issuer: provider.issuer },
      "test links trust confirmation",
    ],
    subjectClaim: [{ subjectClaim: "uuid" }, "test links trust confirmation"],
    clientId: [{ clientId: "another" }, "secret test trust confirmation"],
    authMethod: [{ authMethod: "client_secret_basic" }, "secret test confirmation"],
    scopes: [{ scopes: ["openid"] }, "test confirmation"],
    schoolClaim: [{ schoolClaim: "school" }, "confirmation"],
    schoolValue: [{ schoolValue: "2" }, "confirmation"],
    ruleClaim: [{ ruleClaim: "import_id" }, "confirmation"],
    ruleField: [{ ruleField: "USERNAME" }, "confirmation"],
    normalisations: [{ normalisations: ["TRIM"] }, "confirmation"],
    clientSecret: [{ clientSecret: "renewed" }, ""],
    secretExpiresAt: [{ secretExpiresAt: new Date() }, ""],
    groupIds: [{ groupIds: [] }, ""],
    name: [{ name: "Another" }, ""],
    createsGuests: [{ createsGuests: true }, ""],
    endsUpstreamSession: [{ endsUpstreamSession: true }, ""],
    trustedForSecondFactor: [{ trustedForSecondFactor: true }, ""],
    confirmedForStaff: [{ confirmedForStaff: true }, ""],
    state: [{ state: "ON" }, ""],
  };
  const school = await make.school();
  const connectionId = await party.connect(provider, school, {
    profile: "ENTRA",
    tenant: "11111111-2222-4333-8444-555555555555",
    subjectClaim: "sub",
    schoolClaim: "first",
    schoolValue: "1",
    trustedForSecondFactor: true,
  });
  const where = { id: connectionId };
  const omit = { id: true, schoolId: true, metadata: true, keys: true } as const;
  const row = await db.prisma.upstreamConnection.findUniqueOrThrow({ where, omit });
  const link = { connectionId, issuer: provider.issuer, subject: "1", personId: await make.person({ school }) };
  const isEndedBy = async (update: ConnectionUpdate, byContact: boolean) => {
    await db.prisma.upstreamConnection.update({ where, data: row });
    const createdLink = { ...link, linkedAt: origin.at, linkedBy: "RULE" as const };
    await db.prisma.upstreamLink.createMany({ data: [createdLink], skipDuplicates: true });
    await inTransaction((tx) => updateConnectionIn(tx, { id: connectionId, update, byContact }, party.context()));
    const after = (await findConnection(db, connectionId))!;
    expect(after.state).toBe(after.testedAt === null ? "DRAFT" : "ON");
    const kept = {
      secret: after.hasSecret,
      test: after.testedAt !== null,
      links: (await db.prisma.upstreamLink.count({ where: { connectionId } })) > 0,
      trust: after.trustedForSecondFactor,
      confirmation: after.confirmedForStaff,
    };
    return (Object.keys(kept) as (keyof typeof kept)[]).filter((name) => !kept[name]).join(" ");
  };
  for (const [name, [update, ends]] of Object.entries(changes)) {
    expect([name, await isEndedBy(update, true)]).toEqual([name, ends]);
    // Staff confirm what they enter themselves.
    expect([name, await isEndedBy(update, false)]).toEqual([name, ends.replace(/ ?confirmation/, "")]);
    // A secret in the same change is for the new address.
    const withSecret = { clientSecret: "typed-again", ...update };
    expect([name, await isEndedBy(withSecret, true)]).toEqual([name, ends.replace(/secret ?/, "")]);
  }
});

test("set-up links close when staff confirm what was entered with them, and no test on its way passes", async () => {
  const connection = await party.connect(provider, await make.school());
  const test = await party.openLink(connection);
  const change = (update: ConnectionUpdate, byContact: boolean) =>
    inTransaction((tx) => updateConnectionIn(tx, { id: connection, update, byContact }, party.context()));
  await change({ ruleClaim: "import_id" }, true);
  const url = await party.begin(connection, { to: { test } });
  await change({ confirmedForStaff: true }, false);
  expect(await party.codeOf(party.finish(connection, await provider.visit(url)))).toBe("CONNECTION_OFF");
  expect(await listSetUpLinks(db, connection, new Date())).toMatchObject([{ id: test, closedAt: expect.any(Date) }]);
});

test("a test sign-in that another client or fewer scopes overtake passes no test, and leaves nothing confirmed", async () => {
  const connection = await party.connect(provider, await make.school());
  const read = async () => {
    const { testedAt, scopes, confirmedForStaff } = (await findConnection(db, connection))!;
    return { isTested: testedAt !== null, scopes, confirmedForStaff };
  };
  const test = await party.openLink(connection);
  provider.account = "tester";
  provider.after = async (path, body) => {
    const update = { clientId: "of-the-thief", clientSecret: "of-the-thief" };
    if (path === "/token")
      await inTransaction((tx) => updateConnectionIn(tx, { id: connection, update, byContact: true }, party.context()));
    return body;
  };
  expect(await party.codeOf(party.signIn(provider, connection, { to: { test } }))).toBe("EXPIRED");
  provider.after = null;
  expect(await read()).toMatchObject({ isTested: false, confirmedForStaff: false });
  const back = { clientId, clientSecret, scopes: ["openid", "profile", "email"], confirmedForStaff: true };
  await inTransaction((tx) => updateConnectionIn(tx, { id: connection, update: back }, party.context()));
  provider.released = new Set(["openid", "profile"]);
  const again = await party.openLink(connection);
  expect(await party.codeOf(party.signIn(provider, connection, { to: { test: again } }))).toBe("tested");
  provider.released = null;
  expect(await read()).toEqual({ isTested: true, scopes: ["openid", "profile"], confirmedForStaff: false });
});

test("a school has 20 connections, also if they are made at the same time", async () => {
  const schoolId = await make.school();
  const create = (name: string) =>
    inTransaction((tx) => createConnectionIn(tx, { schoolId, profile: "OIDC", name }, party.context()));
  for (let count = 0; count < 18; count++) await create(`Login ${count}`);
  const made = await Promise.allSettled(["a", "b", "c"].map(create));
  expect(made.filter(({ status }) => status === "rejected")).toMatchObject([
    { reason: { code: "upstream_connection_exists" } },
  ]);
});

test("a test sign-in counts for the issuer and the open link that it began with, and for no later ones", async () => {
  const connection = await party.connect(provider, await make.school(), { state: "DRAFT" });
  provider.account = "late";
  const changes: ((link: SetUpLinkId) => Promise<unknown>)[] = [
    (id) => inTransaction((tx) => closeSetUpLinkIn(tx, id, origin)),
    () =>
      inTransaction((tx) =>
        updateConnectionIn(tx, { id: connection, update: { issuer: "http://127.0.0.1:9/moved" } }, party.context()),
      ),
  ];
  for (const change of changes) {
    const test = await party.openLink(connection);
    provider.after = async (path, body) => {
      if (path === "/token") await change(test);
      return body;
    };
    expect(await party.codeOf(party.signIn(provider, connection, { to: { test } }))).toBe("EXPIRED");
    provider.after = null;
    expect(await findConnection(db, connection)).toMatchObject({ testedAt: null });
    expect(await db.prisma.upstreamSetUpLink.findUnique({ where: { id: test } })).toMatchObject({ tested: null });
  }
});

test("what cannot be a connection is refused with a code that names the field", async () => {
  const school = await make.school();
  const tid = "11111111-2222-4333-8444-555555555555";
  const create = (wishes: Partial<NewConnection>, allowHttp = false) =>
    inTransaction((tx) =>
      createConnectionIn(
        tx,
        { schoolId: school, profile: "OIDC", name: "Login", ...wishes },
        { ...party.context(), allowHttp },
      ),
    );
  const refused: [code: string, wishes: Partial<NewConnection>][] = [
    ["upstream_issuer_malformed", { issuer: "http://login.example" }],
    ["upstream_issuer_malformed", { issuer: "https://login.example?x=1" }],
    ["upstream_issuer_malformed", { issuer: "not an address" }],
    ["text_empty", { name: " " }],
    ["upstream_scopes_malformed", { scopes: ["profile"] }],
    ["upstream_scopes_malformed", { scopes: ["openid", "with space"] }],
    ["upstream_claim_malformed", { subjectClaim: "email" }],
    ["upstream_credentials_malformed", { clientId: "a b" }],
    ["upstream_credentials_malformed", { clientSecret: "" }],
    ["upstream_tenant_malformed", { profile: "ENTRA", tenant: "common" }],
    ["upstream_tenant_malformed", { profile: "GOOGLE", tenant: "no domain" }],
    [
      "upstream_issuer_malformed",
      { profile: "ENTRA", tenant: tid, issuer: "https://login.microsoftonline.com/common/v2.0" },
    ],
  ];
  for (const [code, wishes] of refused)
    await expect(create(wishes), JSON.stringify(wishes)).rejects.toMatchObject({ kind: "invalid", code });
  await expect(create({ groupIds: [await make.group({ school: await make.school() })] })).rejects.toMatchObject({
    code: "group_not_found",
  });
  const id = await create({ profile: "ENTRA", tenant: tid });
  expect(await findConnection(db, id)).toMatchObject({
    issuer: `https://login.microsoftonline.com/${tid}/v2.0`,
    hasSecret: false,
  });
  const own = { issuer: "https://login.example/iserv", clientId: "a" };
  await create(own);
  await expect(create(own)).rejects.toMatchObject({ code: "upstream_connection_exists" });
});

test("the way in of a school: buttons, link name, and the words that find it", async () => {
  const school = await make.school({
    name: "Anne-Frank-Schule",
    address: { address: "A 1", addressAddition: null, city: "Wunstorf", zipCode: "31515" },
  });
  const put = (linkName: string | null, localPasswords: boolean, schoolId = school) =>
    inTransaction((tx) => putWayInIn(tx, { schoolId, linkName, localPasswords }, origin));
  expect(await findSchoolsByWords(db, "anne wunstorf")).toEqual([]);
  await expect(put("anne-frank", false)).rejects.toMatchObject({ code: "school_has_no_connection" });
  const connection = await party.connect(provider, school, { name: "IServ" });
  expect(await listWaysIn(db.pool, school)).toMatchObject([
    { connectionId: connection, name: "IServ", schoolName: "Anne-Frank-Schule" },
  ]);
  for (const name of ["A b", "-a-", "ab"])
    await expect(put(name, true)).rejects.toMatchObject({ code: "text_malformed" });
  await put("anne-frank", false);
  await expect(put("anne-frank", true, await make.school())).rejects.toMatchObject({ code: "link_name_taken" });
  const found = { schoolId: school, name: "Anne-Frank-Schule", city: "Wunstorf", linkName: "anne-frank" };
  for (const words of ["anne wunstorf", "WUNSTORF, frank", "31515"])
    expect(await findSchoolsByWords(db, words)).toEqual([found]);
  for (const words of ["a", "anne hannover", "%%", "an_e", "anne\\", ""])
    expect(await findSchoolsByWords(db, words)).toEqual([]);
  expect(await findSchoolByLinkName(db, "anne-frank")).toEqual(found);
  expect(await findSchoolByLinkName(db, "unknown")).toBeNull();
});

test("client secrets are encrypted, re-encrypted with a new key, and typed in again where the keys are lost", async () => {
  const connection = await party.connect(provider, await make.school());
  const read = () => db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id: connection } });
  const before = (await read()).clientSecret!;
  expect(Buffer.from(before).includes(clientSecret)).toBe(false);
  const newKeys = [Buffer.alloc(32, 9), ...encryptionKeys];
  expect(await inTransaction((tx) => reEncryptUpstreamSecrets(tx, newKeys))).toBeGreaterThan(0);
  expect((await read()).clientSecret).not.toEqual(before);
  await expect(inTransaction((tx) => reEncryptUpstreamSecrets(tx, encryptionKeys))).rejects.toThrow("client secret");
  expect(await forgetLostUpstreamSecrets(db)).toBeGreaterThan(0);
  expect(await read()).toMatchObject({ clientSecret: null, state: "DRAFT" });
});
