import { expect, test } from "vitest";
import {
  createApp,
  deleteApp,
  findApp,
  listSecretHashes,
  rotateClientSecret,
  scopeFromWire,
  scopeNames,
  scopeToWire,
  secretMatches,
  updateApp,
} from "../../src/access/index.ts";
import type { App, AppUpdate, CalledUri, ClientId, ForgetApp, NewApp } from "../../src/access/index.ts";
import { withPrismaTransaction, type Transaction } from "../../src/platform/database/db.ts";
import { testDatabase } from "../support/database.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";
import { untilWaiting } from "../support/waiting.ts";

const db = await testDatabase();
const make = makeMakers(db);
const origin = { at: new Date("2026-03-01T10:00:00Z") };

const later = (seconds: number): Date => new Date(origin.at.getTime() + seconds * 1000);
const matches = (app: App, secret: string, at = origin.at): boolean => secretMatches(listSecretHashes(app, at), secret);

const register = (wishes: Partial<NewApp>, allowLoopbackHttp = false) =>
  withPrismaTransaction(db, (tx) =>
    createApp(
      tx,
      { name: "App", type: "CONFIDENTIAL", scopes: [], redirectUris: ["https://app.example/callback"], ...wishes },
      { ...origin, allowLoopbackHttp },
    ),
  );

test("a confidential app gets a secret of 256 bits, of which only the SHA-256 is kept", async () => {
  const { clientId, clientSecret } = await register({});
  const app = (await findApp(db.pool, clientId))!;
  expect(Buffer.from(clientSecret!, "base64url")).toHaveLength(32);
  expect(app.secretHash).toHaveLength(32);
  expect(matches(app, clientSecret!)).toBe(true);
  expect(matches(app, clientSecret!.toLowerCase())).toBe(false);
  const { rows } = await db.pool.query("SELECT FROM app WHERE app::text LIKE '%' || $1 || '%'", [clientSecret]);
  expect(rows).toEqual([]);
});

test("a public app has no secret, and none matches", async () => {
  const { clientId, clientSecret } = await register({ type: "PUBLIC" });
  expect(clientSecret).toBeNull();
  expect(matches((await findApp(db.pool, clientId))!, "")).toBe(false);
  await expect(register({ type: "PUBLIC", pkceRequired: false })).rejects.toMatchObject({ code: "public_app" });
  await expect(register({ type: "PUBLIC", clientSecret: "a-secret-of-its-own" })).rejects.toMatchObject({
    code: "public_app",
  });
});

test("a registration is found as it was made, and an unknown client id finds none", async () => {
  const wishes = {
    name: "Lernwelt",
    scopes: allScopes,
    postLogoutRedirectUris: ["https://app.example/"],
    loginUrl: "https://app.example/login",
    backchannelLogoutUri: "https://app.example/logout" as CalledUri,
    idTokenAlgorithm: "EdDSA" as const,
    schulconnexSpelling: "V1_7" as const,
    pkceRequired: false,
  };
  const { clientId } = await register(wishes);
  expect(await findApp(db.pool, clientId)).toMatchObject({
    ...wishes,
    type: "CONFIDENTIAL",
    redirectUris: ["https://app.example/callback"],
  });
  expect(await findApp(db.pool, "nobody")).toBeNull();
});

test("a registration is changed in what is given, under the rules of a new one", async () => {
  const { clientId } = await register({ loginUrl: "https://app.example/login" });
  const before = (await findApp(db.pool, clientId))!;
  const update = (wishes: Omit<AppUpdate, "clientId">) =>
    withPrismaTransaction(db, (tx) => updateApp(tx, { clientId, ...wishes }, { ...origin, allowLoopbackHttp: false }));
  await update({ name: "Lernwelt ", scopes: ["schools:read"], loginUrl: null });
  expect(await findApp(db.pool, clientId)).toEqual({
    ...before,
    name: "Lernwelt",
    scopes: ["schools:read"],
    loginUrl: null,
  });
  await expect(update({ redirectUris: ["http://app.example/"] })).rejects.toMatchObject({ code: "uri_refused" });
  await expect(update({ name: " " })).rejects.toMatchObject({ code: "text_empty" });
  const nobody = withPrismaTransaction(db, (tx) =>
    updateApp(tx, { clientId: "nobody" as ClientId, name: "X" }, { ...origin, allowLoopbackHttp: false }),
  );
  await expect(nobody).rejects.toMatchObject({ kind: "not_found", code: "app_not_found" });
  expect(
    await db.prisma.audit.findMany({ where: { clientId, action: "app_updated" }, orderBy: { id: "asc" } }),
  ).toMatchObject([{ detail: { changed: ["name", "scopes", "loginUrl"] } }]);
});

test("default scopes are some of the scopes of an app that has a secret, and go with them", async () => {
  const { clientId } = await register({ scopes: ["schools:read", "users:read"], defaultScopes: ["users:read"] });
  const update = (wishes: Omit<AppUpdate, "clientId">) =>
    withPrismaTransaction(db, (tx) => updateApp(tx, { clientId, ...wishes }, { ...origin, allowLoopbackHttp: false }));
  const refused = { kind: "invalid", code: "default_scopes_refused" };
  await expect(update({ defaultScopes: ["people:read"] })).rejects.toMatchObject(refused);
  await expect(register({ defaultScopes: ["openid"] })).rejects.toMatchObject(refused);
  const open = register({ type: "PUBLIC", scopes: ["openid"], defaultScopes: ["openid"] });
  await expect(open).rejects.toMatchObject(refused);
  await update({ defaultScopes: ["schools:read", "users:read"] });
  await update({ scopes: ["schools:read"] });
  expect(await findApp(db.pool, clientId)).toMatchObject({ defaultScopes: ["schools:read"] });
});

test("a registration that waits for the deletion of the same client id is refused when that commits", async () => {
  const { clientId } = await register({});
  let again: Promise<unknown> | undefined;
  const forget: ForgetApp = async (tx) => {
    const { rowCount } = await tx.query("SELECT FROM app WHERE client_id = $1", [clientId]);
    if (rowCount !== 0 || again !== undefined) return;
    again = asOthers(() => withPrismaTransaction(db, (other) => insertAgain(other, clientId))).catch(
      (error: unknown) => error,
    );
    await asOthers(() => untilWaiting(db));
  };
  await deleteApp(db, clientId, { origin, forget });
  expect(await again).toMatchObject({ code: "client_id_retired" });
});

/** As a process that looked before the deletion began. */
const insertAgain = (tx: Transaction, clientId: ClientId) => {
  const query = (asked: unknown, values?: unknown[]) =>
    (asked as { name?: string }).name === "access.findApp"
      ? Promise.resolve({ rows: [] })
      : tx.query(asked as string, values);
  const wishes = {
    clientId,
    name: "Again",
    type: "CONFIDENTIAL" as const,
    scopes: [],
    redirectUris: ["https://app.example/callback"],
  };
  return createApp({ ...tx, query: query as Transaction["query"] }, wishes, { ...origin, allowLoopbackHttp: false });
};

const rotate = (clientId: ClientId, keepOldSeconds: number, at = origin.at) =>
  withPrismaTransaction(db, (tx) => rotateClientSecret(tx, { clientId, keepOldSeconds }, { at }));

test("two secrets are valid at most, the old one until its end; one without an overlap ends all others", async () => {
  const { clientId, clientSecret: first } = await register({});
  const { clientSecret: second } = await rotate(clientId, 3600);
  const { clientSecret: third } = await rotate(clientId, 60);
  const valid = async (at?: Date) => {
    const app = (await findApp(db.pool, clientId))!;
    return [first!, second, third].map((secret) => matches(app, secret, at));
  };
  expect([await valid(), await valid(later(60))]).toEqual([
    [false, true, true],
    [false, false, true],
  ]);
  await rotate(clientId, 0);
  expect(await valid()).toEqual([false, false, false]);
});

test("a public app has no secret to replace, and an overlap has an end", async () => {
  const { clientId: publicId } = await make.app({ type: "PUBLIC" });
  await expect(rotate(publicId, 0)).rejects.toMatchObject({ code: "app_not_found" });
  const { clientId } = await register({});
  await expect(rotate(clientId, 91 * 86_400)).rejects.toMatchObject({ code: "overlap_too_long" });
});

const refusedUris: [uri: string, why: string][] = [
  ["callback", "not absolute"],
  ["//app.example/callback", "not absolute"],
  ["https://app.example/callback#part", "a fragment"],
  ["https://app.example/callback#", "an empty fragment"],
  ["https://user:secret@app.example/", "credentials"],
  ["https://*.app.example/callback", "a wildcard"],
  ["https://app.example/call back", "a space"],
  ["https://app.example\\@evil.example/", "a backslash"],
  ["https://äpp.example/", "letters beyond ASCII"],
  ["http://app.example/callback", "http"],
  ["http://127.0.0.1:4000/callback", "http to this machine outside development"],
  ["javascript:alert(1)", "a scheme that runs"],
  ["data:text/html,hello", "a scheme that shows"],
  ["com.example.app:/callback", "an own scheme of an app with a secret"],
];

test("redirect URIs that are unsafe or compared in another way by others are refused", async () => {
  for (const [uri, why] of refusedUris) {
    const refused = { kind: "invalid", code: "uri_refused" };
    await expect(register({ redirectUris: [uri] }), why).rejects.toMatchObject(refused);
  }
  const message = "An address was refused: it has the scheme javascript; allowed is https.";
  await expect(register({ redirectUris: ["javascript:alert(1)"] })).rejects.toThrow(message);
});

test("http to this machine is for development, a scheme of its own for public apps", async () => {
  await register(
    { redirectUris: ["http://127.0.0.1:4000/callback", "http://localhost:4000/callback", "http://[::1]:4000/"] },
    true,
  );
  await expect(register({ redirectUris: ["http://localhost.evil.example/"] }, true)).rejects.toMatchObject({
    code: "uri_refused",
  });
  await register({ type: "PUBLIC", redirectUris: ["com.example.app:/callback"] });
  await expect(register({ type: "PUBLIC", redirectUris: ["app:/callback"] }, true)).rejects.toThrow(
    "An address was refused: it has the scheme app; allowed is https or http at 127.0.0.1, [::1], localhost " +
      "or a reversed domain name such as com.example.app.",
  );
  await expect(register({ type: "PUBLIC", loginUrl: "com.example.app:/login" })).rejects.toMatchObject({
    code: "uri_refused",
  });
});

test("a client id or secret that Basic auth would garble is refused", async () => {
  await expect(register({ clientId: "two words" as ClientId })).rejects.toMatchObject({ code: "client_id_refused" });
  await expect(register({ clientSecret: "sixteen:or-more-characters" })).rejects.toMatchObject({
    code: "client_secret_refused",
  });
  await expect(register({ clientSecret: "short" })).rejects.toMatchObject({ code: "client_secret_refused" });
});

test("scopes go to the wire and back, those of the IDM API under the platform's name", () => {
  expect(scopeToWire("schultor", "people:read")).toBe("urn:schultor:idm:v1:people:read");
  expect(scopeToWire("schultor", "openid")).toBe("openid");
  for (const scope of scopeNames) {
    expect(scopeFromWire(scopeToWire("schultor", scope), ["schultor"])).toBe(scope);
    expect(scopeFromWire(scopeToWire("old", scope))).toBe(scope);
  }
  expect(scopeFromWire("urn:other:idm:v1:people:read", ["schultor", "old"])).toBeNull();
  for (const wire of [
    "people:read",
    "idm:v1:people:read",
    "urn::idm:v1:people:read",
    "urn:a:b:idm:v1:people:read",
    "urn:schultor:idm:v1:openid",
    "urn:schultor:idm:v1:",
    "",
  ])
    expect(scopeFromWire(wire), wire).toBeNull();
});
