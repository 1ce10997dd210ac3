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
type Case = { equal: Changed[]; different: Changed[]; absent: string; wrongType: Changed[] };
type Checked = { wishes?: Partial<NewConnection>; claims?: Changed; more?: Partial<Start>; cases: Case; code: string };

const checks: Record<string, Checked> = {
  "the claim of the rule": {
    cases: {
      equal: [{ employee_id: "1" }, { employee_id: 1 }, { employee_id: ["1"] }],
      different: [],
      absent: "CLAIM_MISSING",
      wrongType: [{ employee_id: null }, { employee_id: "" }, { employee_id: [] }, { employee_id: ["1", "2"] }],
    },
    code: "CLAIM_MISSING",
  },
  "the claim of the rule, of somebody else": {
    cases: {
      equal: [],
      different: [{ employee_id: "2" }, { employee_id: "unknown" }],
      absent: "CLAIM_MISSING",
      wrongType: [],
    },
    code: "LINK_CONTRADICTED",
  },
  "the claim of the school": {
    wishes: { schoolClaim: "school_ids", schoolValue: "DE-1" },
    claims: { school_ids: "DE-1" },
    cases: {
      equal: [{ school_ids: ["DE-2", "DE-1"] }],
      different: [{ school_ids: "DE-2" }],
      absent: "OTHER_SCHOOL",
      wrongType: [{ school_ids: null }, { school_ids: true }, { school_ids: [["DE-1"]] }],
    },
    code: "OTHER_SCHOOL",
  },
  "the claim of the account": {
    wishes: { subjectClaim: "oid" },
    claims: { oid: "o-1" },
    cases: {
      equal: [{ oid: ["o-1"] }],
      different: [],
      absent: "CLAIM_MISSING",
      wrongType: [{ oid: null }, { oid: "" }, { oid: true }],
    },
    code: "CLAIM_MISSING",
  },
  tid: {
    wishes: { profile: "ENTRA", tenant, subjectClaim: "sub" },
    claims: { tid: tenant },
    cases: {
      equal: [{}],
      different: [{ tid: "other" }],
      absent: "TENANT",
      wrongType: [{ tid: [tenant] }, { tid: null }],
    },
    code: "TENANT",
  },
  hd: {
    wishes: { profile: "GOOGLE", tenant: "goethe.example" },
    claims: { hd: "goethe.example" },
    cases: { equal: [{}], different: [{ hd: "evil" }], absent: "TENANT", wrongType: [{ hd: ["goethe.example"] }] },
    code: "TENANT",
  },
  nonce: {
    cases: { equal: [{}], different: [{ nonce: "x" }], absent: "INVALID_RESPONSE", wrongType: [{ nonce: null }] },
    code: "INVALID_RESPONSE",
  },
  iss: {
    cases: { equal: [{}], different: [{ iss: "x" }], absent: "INVALID_RESPONSE", wrongType: [{ iss: null }] },
    code: "INVALID_RESPONSE",
  },
  aud: {
    cases: {
      equal: [{ aud: [clientId] }, { aud: [clientId, "x"], azp: clientId }],
      different: [{ aud: "x" }, { aud: ["x"] }, { aud: [clientId, "x"] }],
      absent: "INVALID_RESPONSE",
      wrongType: [{ aud: null }, { aud: {} }],
    },
    code: "INVALID_RESPONSE",
  },
  // Required only where there are several audiences.
  azp: {
    cases: {
      equal: [{ azp: clientId }],
      different: [{ azp: "x" }, { aud: [clientId, "x"], azp: "x" }],
      absent: "signed_in",
      wrongType: [{ azp: null }, { azp: [clientId] }],
    },
    code: "INVALID_RESPONSE",
  },
  "auth_time, with max_age": {
    more: { maxAge: 300 },
    cases: {
      equal: [{ auth_time: now() }, { auth_time: now() - 200 }],
      different: [{ auth_time: now() - 9 * 3600 }],
      absent: "INVALID_RESPONSE",
      wrongType: [{ auth_time: "0" }, { auth_time: null }, { auth_time: -1 }],
    },
    code: "INVALID_RESPONSE",
  },
  "auth_time, with prompt=login": {
    more: login,
    cases: {
      equal: [{}],
      different: [{ auth_time: now() - 9 * 3600 }],
      absent: "INVALID_RESPONSE",
      wrongType: [{ auth_time: String(now()) }],
    },
    code: "INVALID_RESPONSE",
  },
  // Nothing was asked of it.
  auth_time: {
    cases: {
      equal: [{ auth_time: now() - 9 * 3600 }],
      different: [],
      absent: "signed_in",
      wrongType: [{ auth_time: String(now()) }, { auth_time: null }],
    },
    code: "INVALID_RESPONSE",
  },
  // The code and the access token do not pass through the browser with an ID token: nothing depends on their hashes.
  at_hash: {
    cases: { equal: [{}], different: [], absent: "signed_in", wrongType: [] },
    code: "",
  },
  // Nobody is ever named by an address of e-mail.
  email_verified: {
    cases: {
      equal: [{ email_verified: true }, { email_verified: false }],
      different: [],
      absent: "signed_in",
      wrongType: [],
    },
    code: "",
  },
};

const claimOf = (name: string, { wishes }: Checked): string => {
  if (name.startsWith("the claim of the rule")) return "employee_id";
  if (name === "the claim of the school") return wishes!.schoolClaim!;
  return name === "the claim of the account" ? "oid" : name.split(",")[0]!;
};

test.each(Object.entries(checks))("a linked account, and in its ID token %s", async (name, checked) => {
  const { wishes, claims, more, cases, code } = checked;
  const { school, connection } = await makeAccount(wishes, claims);
  await make.person({ school, sourceSystemIdentifier: "2" });
  expect(await outcome(connection, {}, {})).toBe("signed_in");
  for (const equal of cases.equal)
    expect(await outcome(connection, equal, more), JSON.stringify(equal)).toBe("signed_in");
  for (const other of [...cases.different, ...cases.wrongType])
    expect(await outcome(connection, other, more), JSON.stringify(other)).toBe(code);
  const claim = claimOf(name, checked);
  // Neither in the ID token nor at userinfo.
  provider.claims[provider.account] = { employee_id: "1", ...claims, [claim]: undefined };
  expect(await outcome(connection, { [claim]: undefined }, more)).toBe(cases.absent);
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
