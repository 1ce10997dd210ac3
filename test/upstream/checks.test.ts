import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { linkByHandIn, listRefusals, type NewConnection, type Start } from "../../src/upstream/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { clientId, startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

// The request passes through the browser, which can remove what makes the provider say something. So each check is
// tried with a value that is right, another one, none, and one of another type.
const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider({ authMethod: "client_secret_post" });
const party = makeRelyingParty(db);
const tenant = "11111111-2222-4333-8444-555555555555";
let accounts = 0;

async function makeAccount(wishes: Partial<NewConnection> = {}, claims: Record<string, unknown> = {}) {
  const school = await make.school();
  const settings = { authMethod: "client_secret_post" as const, ...wishes };
  const connection = await party.connect(provider, school, settings);
  const personId = await make.person({ school, sourceSystemIdentifier: "1" });
  await giveLogin(db, personId);
  const account = `checked-${++accounts}`;
  provider.account = account;
  provider.claims[account] = { employee_id: "1", ...claims };
  provider.inIdToken = true;
  return { school, connection, personId, account };
}

type Changed = Record<string, unknown>;

/** Signs in with an ID token of these claims; undefined leaves one out. */
async function outcome(connection: Parameters<typeof party.signIn>[1], changes: Changed, more: Partial<Start> = {}) {
  provider.after = async (path, body) => {
    if (path !== "/token") return body;
    const claims = { ...decodeJwt(String(body["id_token"])), ...changes };
    return { ...body, id_token: await provider.sign(claims) };
  };
  try {
    return await party.codeOf(party.signIn(provider, connection, more));
  } finally {
    provider.after = null;
  }
}

const now = () => Math.floor(Date.now() / 1000);
const login: Partial<Start> = { prompt: "login" };
/** `good` and `bad`: values of the claim, or several claims `together`. `absent`: what comes of none. */
type Checked = {
  claim: string;
  wishes?: Partial<NewConnection>;
  own?: unknown;
  more?: Partial<Start>;
  good: unknown[];
  bad: unknown[];
  absent: string;
  code: string;
};
const together = (claims: Changed) => new Map(Object.entries(claims));
const [missing, invalid] = ["CLAIM_MISSING", "INVALID_RESPONSE"];
const notToday = () => now() - 9 * 3600;

const checks: Checked[] = [
  { claim: "employee_id", good: ["1", 1, ["1"]], bad: [null, "", [], ["1", "2"]], absent: missing, code: missing },
  { claim: "employee_id", good: [], bad: ["2", "unknown"], absent: missing, code: "LINK_CONTRADICTED" },
  {
    claim: "school_ids",
    wishes: { schoolClaim: "school_ids", schoolValue: "DE-1" },
    own: "DE-1",
    good: [["DE-2", "DE-1"]],
    bad: ["DE-2", null, true, [["DE-1"]]],
    absent: "OTHER_SCHOOL",
    code: "OTHER_SCHOOL",
  },
  {
    claim: "oid",
    wishes: { subjectClaim: "oid" },
    own: "o-1",
    good: [["o-1"]],
    bad: [null, "", true],
    absent: missing,
    code: missing,
  },
  {
    claim: "tid",
    wishes: { profile: "ENTRA", tenant, subjectClaim: "sub" },
    own: tenant,
    good: [],
    bad: ["other", [tenant], null],
    absent: "TENANT",
    code: "TENANT",
  },
  {
    claim: "hd",
    wishes: { profile: "GOOGLE", tenant: "goethe.example" },
    own: "goethe.example",
    good: [],
    bad: ["evil", ["goethe.example"]],
    absent: "TENANT",
    code: "TENANT",
  },
  { claim: "nonce", good: [], bad: ["x", null], absent: invalid, code: invalid },
  { claim: "iss", good: [], bad: ["x", null], absent: invalid, code: invalid },
  {
    claim: "aud",
    good: [[clientId], together({ aud: [clientId, "x"], azp: clientId })],
    bad: ["x", ["x"], [clientId, "x"], null, {}],
    absent: invalid,
    code: invalid,
  },
  // Required only where there are several audiences.
  {
    claim: "azp",
    good: [clientId],
    bad: ["x", together({ aud: [clientId, "x"], azp: "x" }), null, [clientId]],
    absent: "signed_in",
    code: invalid,
  },
  {
    claim: "auth_time",
    more: { maxAge: 300 },
    good: [now(), now() - 200],
    bad: [notToday(), "0", null, -1],
    absent: invalid,
    code: invalid,
  },
  { claim: "auth_time", more: login, good: [], bad: [notToday(), String(now())], absent: invalid, code: invalid },
  // Nothing was asked of it.
  { claim: "auth_time", good: [notToday()], bad: [String(now()), null], absent: "signed_in", code: invalid },
  // The code and the access token do not pass through the browser with an ID token: nothing depends on their hashes.
  { claim: "at_hash", good: [], bad: [], absent: "signed_in", code: "" },
  // Nobody is ever named by an address of e-mail.
  { claim: "email_verified", good: [true, false], bad: [], absent: "signed_in", code: "" },
];

test.each(checks)("a linked account, and in its ID token $claim with $more: $code", async (checked) => {
  const { claim, wishes, own, more, good, bad, absent, code } = checked;
  const claims = own === undefined ? {} : { [claim]: own };
  const { school, connection } = await makeAccount(wishes, claims);
  await make.person({ school, sourceSystemIdentifier: "2" });
  expect(await outcome(connection, {}, {})).toBe("signed_in");
  const come = async (value: unknown) => [
    value,
    await outcome(connection, value instanceof Map ? (Object.fromEntries(value) as Changed) : { [claim]: value }, more),
  ];
  if (more !== undefined) expect(await outcome(connection, {}, more)).toBe("signed_in");
  for (const value of good) expect(await come(value)).toEqual([value, "signed_in"]);
  for (const value of bad) expect(await come(value)).toEqual([value, code]);
  // Neither in the ID token nor at userinfo.
  provider.claims[provider.account] = { employee_id: "1", ...claims, [claim]: undefined };
  expect(await come(undefined)).toEqual([undefined, absent]);
});

test("the `iss` of the response: another one is refused, and none where the provider announces it", async () => {
  const { connection } = await makeAccount();
  const comeBack = async (change: (params: URLSearchParams) => void) => {
    const params = await provider.visit(await party.begin(connection));
    change(params);
    return party.codeOf(party.finish(connection, params));
  };
  expect(await comeBack(() => undefined)).toBe("signed_in");
  for (const iss of ["http://evil.example", "", `${provider.issuer}/`])
    expect(await comeBack((params) => params.set("iss", iss)), iss).toBe("INVALID_RESPONSE");
  expect(await comeBack((params) => params.append("iss", "http://evil.example"))).toBe("INVALID_RESPONSE");
  expect(await comeBack((params) => params.delete("iss"))).toBe("INVALID_RESPONSE");
  for (const name of ["state", "code"])
    expect(await comeBack((params) => params.delete(name))).toMatch(/^(EXPIRED|INVALID_RESPONSE)$/);
});

test("a browser that removes the scope of the rule's claim, or has it refused, does not sign in as the person before", async () => {
  const { school, connection, account } = await makeAccount();
  provider.inIdToken = false;
  await make.person({ school, sourceSystemIdentifier: "2" });
  expect(await party.codeOf(party.signIn(provider, connection))).toBe("signed_in");
  // The account is another person's now.
  provider.claims[account] = { employee_id: "2" };
  const without = async (address: URL) => {
    address.searchParams.set("scope", "openid");
    return party.finish(connection, await provider.visit(address));
  };
  expect(await party.codeOf(party.signIn(provider, connection))).toBe("LINK_CONTRADICTED");
  expect(await party.codeOf(without(await party.begin(connection)))).toBe("CLAIM_MISSING");
  for (const linkedBy of ["RULE", "STAFF"] as const) {
    await db.prisma.upstreamLink.updateMany({ where: { connectionId: connection }, data: { linkedBy } });
    const left = await party.begin(connection);
    const refused = { error: "invalid_scope", state: left.searchParams.get("state")!, iss: provider.issuer };
    const fewer = await party.finish(connection, new URLSearchParams(refused));
    if (fewer.kind === "again") expect(await party.codeOf(without(fewer.redirectTo))).toBe("CLAIM_MISSING");
    expect(await party.codeOf(without(await party.begin(connection))), linkedBy).toBe("CLAIM_MISSING");
  }
});

test("an account without the claim, which staff linked nevertheless, signs in; it is refused once the claim is somebody else's", async () => {
  const { school, connection, personId, account } = await makeAccount();
  await make.person({ school, sourceSystemIdentifier: "2" });
  provider.claims[account] = {};
  expect(await party.codeOf(party.signIn(provider, connection))).toBe("CLAIM_MISSING");
  const [refusal] = await listRefusals(db, { connectionId: connection, limit: 10 }, encryptionKeys);
  const origin = { at: new Date(), actorId: "test" };
  await withPrismaTransaction(db, (tx) =>
    linkByHandIn(tx, { refusalId: refusal!.id, personId }, { keys: encryptionKeys, origin }),
  );
  expect(await party.codeOf(party.signIn(provider, connection))).toBe("signed_in");
  provider.claims[account] = { employee_id: "2" };
  expect(await party.codeOf(party.signIn(provider, connection))).toBe("LINK_CONTRADICTED");
});

test("what was asked of the provider is asked again with each step of scopes, and checked then", async () => {
  const { connection } = await makeAccount({ scopes: ["openid", "profile", "import"] });
  const asked: Partial<Start> = { prompt: "login", maxAge: 300, uiLocales: "de", loginHint: "anna" };
  const left = await party.begin(connection, asked);
  const refused = { error: "invalid_scope", state: left.searchParams.get("state")!, iss: provider.issuer };
  const fewer = await party.finish(connection, new URLSearchParams(refused));
  const again = fewer.kind === "again" ? Object.fromEntries(fewer.redirectTo.searchParams) : {};
  const kept = { prompt: "login", max_age: "300", ui_locales: "de", login_hint: "anna" };
  expect(Object.fromEntries(left.searchParams)).toMatchObject({ ...kept, scope: "openid profile import" });
  expect(again).toMatchObject({ ...kept, scope: "openid profile" });
});

test("a browser that removes `prompt=login` or `max_age` has not signed in again", async () => {
  const { connection } = await makeAccount();
  const cookies = new Map<string, string>();
  const visit = async (more: Partial<Start>, removed: string[]) => {
    const address = await party.begin(connection, more);
    for (const name of removed) address.searchParams.delete(name);
    return party.codeOf(party.finish(connection, await provider.visit(address, cookies)));
  };
  expect(await visit({}, [])).toBe("signed_in");
  for (const more of [login, { maxAge: 300 }, { ...login, maxAge: 300 }]) {
    expect(await visit(more, []), JSON.stringify(more)).toBe("signed_in");
    expect(await visit(more, ["prompt", "max_age"]), JSON.stringify(more)).toBe("INVALID_RESPONSE");
  }
  // Others cannot say when somebody signed in, and need not.
  const google = await makeAccount({ profile: "GOOGLE", tenant: "goethe.example" }, { hd: "goethe.example" });
  const address = await party.begin(google.connection, login);
  expect([address.searchParams.get("prompt"), address.searchParams.get("max_age")]).toEqual(["select_account", null]);
  expect(await party.codeOf(party.signIn(provider, google.connection, {}))).toBe("signed_in");
});
