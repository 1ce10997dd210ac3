import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { clientId, startUpstreamProvider } from "../support/upstream-provider.ts";
import { issuerUrl, makeRelyingParty } from "../support/upstream.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const school = await make.school();

const pupil = async (sourceSystemIdentifier: string, wishes: Parameters<typeof make.person>[0] = {}) => {
  const personId = await make.person({ school, sourceSystemIdentifier, ...wishes });
  await giveLogin(db, personId);
  return personId;
};

test("a pupil whom the rule names is signed in, with code, PKCE, nonce and a redirect URI of the connection", async () => {
  const connection = await party.connect(provider, school);
  const personId = await pupil("17");
  provider.account = "sub-17";
  provider.claims["sub-17"] = { employee_id: "17" };
  const address = await party.begin(connection, { to: { interaction: "uid" }, uiLocales: "de", loginHint: "anna" });
  expect(address.origin).toBe(provider.issuer);
  const asked = Object.fromEntries(address.searchParams);
  expect(asked).toMatchObject({
    response_type: "code",
    client_id: clientId,
    redirect_uri: `${issuerUrl}/upstream/${connection}/callback`,
    code_challenge_method: "S256",
    scope: "openid profile",
    ui_locales: "de",
    login_hint: "anna",
  });
  for (const name of ["state", "nonce", "code_challenge"]) expect(asked[name]).toMatch(/^[\w-]{43}$/);
  const result = await party.finish(connection, await provider.visit(address));
  expect(result).toMatchObject({
    kind: "signed_in",
    personId,
    amr: ["upstream"],
    homeSchoolId: school,
    to: { interaction: "uid" },
  });
  const link = await db.prisma.upstreamLink.findFirstOrThrow({ where: { personId } });
  expect(link).toMatchObject({ issuer: provider.issuer, subject: "sub-17", linkedBy: "RULE" });
});

test("a secret is sent as it is where nothing in it needs an escape, because many providers do not decode it", async () => {
  const connection = await party.connect(provider, school, {
    clientId: "a:b",
    clientSecret: "with-every_sign.and~one",
  });
  const sent: (string | undefined)[] = [];
  provider.before = ({ url, headers }) => url === "/token" && sent.push(headers.authorization) === 0;
  const address = await party.begin(connection);
  const params = new URLSearchParams({ code: "x", state: address.searchParams.get("state")!, iss: provider.issuer });
  expect(await party.codeOf(party.finish(connection, params))).toBe("SECRET_REFUSED");
  provider.before = null;
  const decoded = sent.map((one) => Buffer.from(one!.replace("Basic ", ""), "base64").toString());
  expect(decoded).toEqual(["a%3Ab:with-every_sign.and~one"]);
});

test("only browsers that are at the provider count against the limit of an address", async () => {
  const at = new Date();
  const { upstream, begin, browser, connect, codeOf } = makeRelyingParty(db, () => at);
  const connection = await connect(provider, await make.school());
  const address = "2001:db8:1:1::1";
  const countUsed = async () => {
    const text = "SELECT count(*)::int AS used FROM rate_limit WHERE full_at > $1::timestamptz + interval '10 ms'";
    return (await db.pool.query<{ used: number }>(text, [at])).rows[0]!.used;
  };
  await db.pool.query("DELETE FROM rate_limit");
  const tabs: URLSearchParams[] = [];
  for (let tab = 0; tab < 20; tab++) tabs.push((await begin(connection, { address })).searchParams);
  expect(await countUsed()).toBe(2);
  for (const tab of tabs) {
    const params = new URLSearchParams({ error: "access_denied", state: tab.get("state")!, iss: provider.issuer });
    expect(await codeOf(upstream.finish({ connectionId: connection, browser, address, params, at }))).toBe("CANCELLED");
  }
  expect(await countUsed()).toBe(0);
});
