import { gzipSync } from "node:zlib";
import { createServer, type AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { createConnectionIn, putWayInIn, type ConnectionId } from "../../src/upstream/index.ts";
import { makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";
import { type AttackedSchool, encryptionKeys, reasonOn, startAttackWorld } from "./upstream-world.ts";

// Providers that aim our requests at others, or hold them up. The world may call this machine; `guarded` may not.
const world = startAttackWorld();
let guarded: TestService;
let operator: AdminClient;
let touched = 0;
let port: number;

beforeAll(async () => {
  guarded = await startService({ clock: makeTestClock(new Date()) });
  operator = (await makeStaff(guarded, "OPERATOR")).call;
  const canary = createServer((socket) => {
    touched += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  port = (canary.address() as AddressInfo).port;
  atFileEnd(() => void canary.close());
});

/** Inner addresses, as literals in every spelling that a URL accepts, and as names. */
const inner = () => [
  ...["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"],
  ...["localhost", "10.0.0.1", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]"],
];

async function makeGuarded(issuer: string): Promise<ConnectionId> {
  const schoolId = await makeMakers(guarded.db).school();
  const made = { schoolId, profile: "OIDC" as const, name: "Own", issuer, clientId, clientSecret, ruleClaim: "id" };
  const context = { keys: encryptionKeys, allowHttp: false, origin: { at: guarded.clock() } };
  return withPrismaTransaction(guarded.db, (tx) => createConnectionIn(tx, made, context));
}

test("SSRF: no issuer at an inner address is called, nor one without https", async () => {
  for (const host of inner()) {
    const id = await makeGuarded(`https://${host}:${port}`);
    const checked = await operator("POST", `/upstream-connections/${id}/metadata`);
    expect([checked.status, checked.body], host).toMatchObject([200, { isReached: false, failure: "UPSTREAM_DOWN" }]);
    expect(JSON.stringify(checked.body)).not.toMatch(/ECONNREFUSED|reset|hang up/i);
  }
  expect(touched).toBe(0);
  const schoolId = await makeMakers(guarded.db).school();
  for (const issuer of [
    ...[`http://provider.example`, "ftp://provider.example", "file:///etc/passwd", "https://a:b@provider.example"],
    ...["https://provider.example/#x", "https://provider.example/?x", "javascript:alert(1)", "gopher://x", "//x"],
  ]) {
    const body = { schoolId, profile: "OIDC", name: "Own", issuer };
    expect((await operator("POST", "/upstream-connections", { body })).status, issuer).toBe(400);
  }
});

test("SSRF: no endpoint that a discovery document names at an inner address is called", async () => {
  const id = await makeGuarded("https://provider.example");
  const { db } = guarded;
  const { schoolId } = await db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id } });
  const linkName = "guarded";
  const wanted = { schoolId: schoolId as SchoolId, linkName, localPasswords: true };
  await withPrismaTransaction(db, (tx) => putWayInIn(tx, wanted, { at: guarded.clock() }));
  for (const host of inner().filter((_host, at) => at % 4 === 0)) {
    const endpoint = (path: string) => `https://${host}:${port}/${path}`;
    const metadata = {
      issuer: "https://provider.example",
      authorization_endpoint: endpoint("auth"),
      token_endpoint: endpoint("token"),
      jwks_uri: endpoint("jwks"),
      id_token_signing_alg_values_supported: ["RS256"],
    };
    const data = { metadata, keys: { keys: [] }, keysReadAt: new Date(), state: "ON" as const, testedAt: new Date() };
    await db.prisma.upstreamConnection.update({ where: { id }, data });
    const browser = makeBrowser(guarded.url, { "accept-language": "en" });
    const page = await browser.open(`/s/${linkName}`);
    const left = await browser.submit(page, "/upstream", { connection: id });
    const state = new URL(left.url).searchParams.get("state")!;
    const shown = await browser.open(`/upstream/${id}/callback?state=${state}&code=a`);
    expect(reasonOn(shown), host).toBe("UPSTREAM_DOWN");
  }
  expect(touched).toBe(0);
});

/** A provider that answers its discovery document as `script` says. */
async function connectTo(receiver: Receiver): Promise<AttackedSchool> {
  const { provider } = world;
  return world.connect({}, { ...provider, issuer: receiver.url });
}
const check = async ({ connectionId }: AttackedSchool, call: AdminClient) =>
  (await call("POST", `/upstream-connections/${connectionId}/metadata`)).body as {
    isReached: boolean;
    failure: string;
  };

test("redirects from discovery, JWKS, token endpoint and userinfo lead nowhere", async () => {
  const staff = (await makeStaff(world.service, "OPERATOR")).call;
  const secret = await startReceiver();
  const { provider } = world;
  const school = await world.connect();
  await world.makePerson(school, "1");
  for (const status of [302, 307])
    for (const path of ["/.well-known/openid-configuration", "/jwks", "/token", "/me"]) {
      provider.before = (req, res) => {
        if (req.url !== path) return false;
        res.writeHead(status, { location: `${secret.url}/inner` }).end();
        return true;
      };
      const isMetadata = path === "/jwks" || path.startsWith("/.well-known");
      if (isMetadata) expect(await check(school, staff), path).toMatchObject({ isReached: false });
      else {
        signInThere(provider, { import_id: "1" });
        provider.inIdToken = false;
        const browser = world.newBrowser();
        const params = await provider.visit(await world.leave(browser, school));
        const shown = await world.comeBack(browser, school.connectionId, params);
        expect([reasonOn(shown), await world.isSignedIn(browser)], path).toEqual(["INVALID_RESPONSE", false]);
      }
      provider.before = null;
    }
  expect(secret.received).toEqual([]);
});

test("an issuer that moves its address, or whose endpoints are no https addresses, is not followed", async () => {
  const receiver = await startReceiver();
  const school = await connectTo(receiver);
  const staff = (await makeStaff(world.service, "OPERATOR")).call;
  const good = {
    issuer: receiver.url,
    authorization_endpoint: `${receiver.url}/auth`,
    token_endpoint: `${receiver.url}/token`,
    jwks_uri: `${world.provider.issuer}/jwks`,
  };
  let document: object = good;
  receiver.script((_call, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document)),
  );
  expect(await check(school, staff)).toMatchObject({ isReached: true });
  const { prisma } = world.service.db;
  const metadata = async () =>
    (await prisma.upstreamConnection.findUniqueOrThrow({ where: { id: school.connectionId } })).metadata;
  const before = await metadata();
  for (const change of [
    { issuer: receiver.url.toUpperCase() },
    { issuer: "https://new.example" },
    { issuer: undefined },
    { authorization_endpoint: "javascript:alert(1)" },
    { token_endpoint: "file:///etc/passwd" },
    { jwks_uri: "ftp://new.example" },
    { end_session_endpoint: "javascript:alert(1)" },
    { userinfo_endpoint: "https://user:password@new.example" },
    { authorization_endpoint: `${receiver.url}/auth#fragment` },
    { id_token_signing_alg_values_supported: ["none"] },
  ]) {
    document = { ...good, ...change };
    expect(await check(school, staff), JSON.stringify(change)).toMatchObject({ failure: "INVALID_RESPONSE" });
    expect(await metadata()).toEqual(before);
  }
});

test("a provider that answers 100 MB, a compressed bomb or nonsense is refused after one mebibyte", async () => {
  const receiver = await startReceiver();
  const school = await connectTo(receiver);
  const staff = (await makeStaff(world.service, "OPERATOR")).call;
  let sent = 0;
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, " "));
  const scripts: Parameters<Receiver["script"]>[0][] = [
    (_call, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": String(100 * 1024 * 1024) });
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const send = (): void => {
        if (response.destroyed || sent >= 100 * 1024 * 1024) return;
        sent += chunk.length;
        response.write(chunk, send);
      };
      send();
    },
    (call, response) => {
      expect(call.headers["accept-encoding"]).toBe("identity");
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
    },
    (_call, response) => response.writeHead(200).end("[".repeat(500_000)),
    (_call, response) => response.writeHead(200).end("null"),
    (_call, response) => response.writeHead(204).end(),
    (_call, response) => response.socket?.end("not HTTP\r\n\r\n"),
  ];
  const memory = process.memoryUsage().rss;
  for (const [index, script] of scripts.entries()) {
    receiver.script(script);
    expect(await check(school, staff), String(index)).toMatchObject({ isReached: false });
  }
  expect(sent).toBeLessThan(20 * 1024 * 1024);
  expect(process.memoryUsage().rss - memory).toBeLessThan(100 * 1024 * 1024);
});

test("what PostgreSQL cannot store of a provider's documents is the provider's fault, and no failure of the service", async () => {
  const receiver = await startReceiver();
  const school = await connectTo(receiver);
  const staff = (await makeStaff(world.service, "OPERATOR")).call;
  // Odd, and of 2048 bits.
  const key = { kty: "RSA", kid: "a", n: Buffer.alloc(256, 0xff).toString("base64url"), e: "AQAB" };
  const good = {
    discovery: {
      issuer: receiver.url,
      authorization_endpoint: `${receiver.url}/auth`,
      token_endpoint: `${receiver.url}/token`,
      jwks_uri: `${receiver.url}/jwks`,
    },
    jwks: { keys: [key] } as object,
  };
  let bodies = { discovery: "", jwks: "" };
  receiver.script((call, response) => {
    const body = call.path === "/jwks" ? bodies.jwks : bodies.discovery;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const { db } = world.service;
  const stateOf = async (spoilt: Partial<Record<keyof typeof good, string>>) => {
    bodies = { discovery: JSON.stringify(good.discovery), jwks: JSON.stringify(good.jwks), ...spoilt };
    await db.prisma.upstreamConnection.update({
      where: { id: school.connectionId },
      data: { refreshAt: new Date(0), failingSince: null, lastFailure: null, lastFailureAt: null },
    });
    await world.service.runJob("upstream.refresh");
    return {
      checked: await check(school, staff),
      shown: await staff("GET", `/upstream-connections/${school.connectionId}`),
    };
  };
  expect(await stateOf({})).toMatchObject({ checked: { isReached: true }, shown: { body: { lastFailure: "NONE" } } });
  const nested = "[".repeat(10_000) + "]".repeat(10_000);
  const inDiscovery = (change: object) => ({ discovery: JSON.stringify({ ...good.discovery, ...change }) });
  const inKeys = (change: object) => ({ jwks: JSON.stringify({ keys: [{ ...key, ...change }] }) });
  for (const [spoilt, detail] of [
    [inDiscovery({ token_endpoint: `${receiver.url}/\u0000` }), "contains a NUL character"],
    [inDiscovery({ token_endpoint: `${receiver.url}/${"a".repeat(3000)}` }), "no usable token_endpoint"],
    [{ discovery: `{"a":${nested}}` }, "nested deeper"],
    [{ discovery: `[${"1,".repeat(200_000)}1]` }, "more than"],
    [{ discovery: " ".repeat(1_100_000) }, "larger than"],
    [inKeys({ kid: "a\udc00" }), "lone surrogate"],
    [{ jwks: `{"keys":${nested}}` }, "nested deeper"],
  ] as const) {
    const { checked, shown } = await stateOf(spoilt);
    expect(checked, detail).toMatchObject({ failure: "INVALID_RESPONSE", detail: expect.stringContaining(detail) });
    expect(shown.body, detail).toMatchObject({ lastFailure: "INVALID_RESPONSE" });
  }
  // Keys that nobody should have, or whose use would take long, are as if they were not there.
  for (const change of [{ n: "A".repeat(100_000) }, { e: "AQ" }, { e: "AQAA" }, { d: "AQ" }, { use: "enc" }]) {
    await stateOf(inKeys(change));
    const { keys } = await db.prisma.upstreamConnection.findUniqueOrThrow({ where: { id: school.connectionId } });
    expect(keys, JSON.stringify(change).slice(0, 20)).toEqual({ keys: [] });
  }
});

test("addresses in claims, such as a picture, and in the answers of a provider are never called", async () => {
  const canary = await startReceiver();
  const provider = await startUpstreamProvider();
  provider.after = (path, body) =>
    path.startsWith("/.well-known") ? { ...body, op_policy_uri: canary.url, logo_uri: canary.url } : body;
  const school = await world.connect({}, provider);
  await world.makePerson(school, "1");
  const picture = `${canary.url}/picture.png`;
  expect(await world.outcome(school, { import_id: "1", picture, logo_uri: picture })).toBe("signed in");
  expect(canary.received).toEqual([]);
  const staff = (await makeStaff(world.service, "OPERATOR")).call;
  const path = `/upstream-connections/${school.connectionId}`;
  for (const name of ["logoUri", "logo", "picture"])
    expect(refusalOf(await staff("PATCH", path, { body: { [name]: picture } }))[0]).toBe(400);
});
