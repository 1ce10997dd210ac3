import { expect, test } from "vitest";
import { makeLog } from "../../src/platform/log.ts";
import { registerEndpoint } from "../../src/webhooks/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { readRecoveryCodes, setUpTotp } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { basic, exchange, getAppToken, giveLogin, postToken, signOn } from "../support/token.ts";
import { keys } from "../support/webhooks.ts";

/** A secret in the spellings in which it could lie somewhere. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 within something longer begins at one of three places.
  const inside = [0, 1, 2].map((pad) =>
    Buffer.concat([Buffer.alloc(pad), bytes])
      .toString("base64")
      .slice(Math.ceil((pad * 4) / 3) + 1, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), bytes.toString("base64url"), ...inside].filter(
    (text) => text.length >= 6,
  );
}

test("after sign-on, refresh, second factor, webhooks and calls, no table and no log line holds a secret that is good for anything", async () => {
  const lines: string[] = [];
  const log = makeLog({ level: "trace", format: "json", to: { write: (line: string) => void lines.push(line) } });
  const service = await startService({ log });
  const { db, clock } = service;
  const make = makeMakers(db);
  const [school, app, spa] = [await make.school(), await make.app(), await make.app({ type: "PUBLIC" })];
  for (const { clientId } of [app, spa]) await make.grant({ app: clientId, school });
  const login = await giveLogin(db, await make.person({ school }));
  const seen: Record<string, string> = { password: login.password, clientSecret: app.clientSecret! };

  for (const [kind, client] of Object.entries({ app, spa })) {
    const signedOn = await signOn(service, client, login, { scopes: ["openid", "offline_access", "people:read"] });
    const { body } = await exchange(service, client, signedOn);
    await exchange(service, client, await signOn(service, client, login, { browser: signedOn.browser }));
    const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
    const refreshed = (await postToken(service, client, fields)).body;
    await fetch(`${service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${refreshed.access_token}` } });
    Object.assign(seen, {
      [`${kind} code`]: signedOn.back.searchParams.get("code")!,
      [`${kind} verifier`]: signedOn.asked.verifier,
      [`${kind} access token`]: body.access_token,
      [`${kind} ID token`]: body.id_token!,
      [`${kind} refresh token`]: body.refresh_token!,
      [`${kind} refreshed access token`]: refreshed.access_token,
      [`${kind} refreshed refresh token`]: refreshed.refresh_token!,
    });
    for (const { name, value } of signedOn.browser.cookies())
      if (/^_(session|browser)/.test(name)) seen[`${kind} cookie ${name}`] = value;
  }
  const half = await signOn(service, app, login);
  seen["unused code"] = half.back.searchParams.get("code")!;
  seen["app token"] = await getAppToken(service, app, ["schools:read"]);
  seen["basic"] = basic(app)["authorization"]!.slice("Basic ".length);

  const user = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { secret, shown } = await setUpTotp(user.browser, clock);
  seen["staff password"] = user.password;
  seen["TOTP secret"] = secret.replaceAll(" ", "");
  for (const [index, code] of readRecoveryCodes(shown).entries()) seen[`recovery code ${index}`] = code;
  await user.browser.open("/admin/schools");

  const { app: robot, call } = await makeStaff(service, "OPERATOR");
  seen["operator secret"] = robot.clientSecret!;
  await call("GET", "/schools");
  const endpoint = await registerEndpoint(
    db,
    { clientId: app.clientId, url: "http://127.0.0.1:4999/hook", eventTypes: ["person"] },
    { origin: { at: clock(), actorId: "test" }, keys, policy: { allowPrivateAddresses: true } },
  );
  seen["webhook secret"] = endpoint.secret;
  expect(readRecoveryCodes(shown).length).toBeGreaterThan(5);
  expect(Object.values(seen).every((value) => value.length >= 6)).toBe(true);

  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.pool.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" AS t`);
    dump.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  expect([tables.length > 40, dump.length > 100, lines.length > 30]).toEqual([true, true, true]);
  // Binary columns are hexadecimal in the text of a row: a secret as it is would be found there too.
  const everything = { tables: dump.join("\n").toLowerCase(), log: lines.join("\n").toLowerCase() };
  const found = Object.entries(seen).flatMap(([what, value]) =>
    Object.entries(everything)
      .filter(([, text]) => spellingsOf(value).some((spelling) => text.includes(spelling.toLowerCase())))
      .map(([where]) => `${what} in ${where}`),
  );
  expect(found).toEqual([]);
  // What is searched for is found where it does lie: the user name is in its table.
  expect(spellingsOf(login.username).some((spelling) => everything.tables.includes(spelling.toLowerCase()))).toBe(true);
});
