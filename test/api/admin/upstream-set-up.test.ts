import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeAdmin, type AdminOptions, type SetUpCaller } from "../../../src/admin/index.ts";
import { callers } from "../../../src/admin/rights.ts";
import { listOperations, loadDocument, makeReading, resolve } from "../../../src/platform/http/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { addressesOf, type ConnectionId } from "../../../src/upstream/index.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { inBatches } from "../../support/in-batches.ts";
import { makeMakers } from "../../support/make.ts";
import { failureLog } from "../../support/service-failures.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../../support/upstream-provider.ts";
import { encryptionKeys, issuerUrl, makeRelyingParty } from "../../support/upstream.ts";

type Schemas = components["schemas"];

// The provider has the present time.
const clock = makeTestClock(new Date());
const env = { ENCRYPTION_KEYS: encryptionKeys[0]!.toString("base64"), WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
const service = await startService({ clock, env });
const { db } = service;
const make = makeMakers(db);
const party = makeRelyingParty(db, clock);
const provider = await startUpstreamProvider();
provider.clock = clock;
const document = await loadDocument("admin", "schultor");

// What the operations of the contact use.
const admin = await makeAdmin({
  db,
  clock,
  issuerUrl,
  document,
  log: failureLog,
  checkAnswers: true,
  upstream: party.upstream,
  keys: encryptionKeys,
  webhookKeys: encryptionKeys,
  restoreWindowDays: 30,
  policy: { allowPrivateAddresses: true, allowHttp: true },
  reading: makeReading({ pool: db.pool, canceller: db.pool, isReplica: false }, { maxAtOnce: 4 } as never),
} as unknown as AdminOptions);

type Link = Schemas["CreatedSetUpLink"];

async function makeSchool() {
  const school = await make.school();
  const staff = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const body = { schoolId: school, profile: "OIDC", name: "Own login" };
  const { id } = (await staff.call("POST", "/upstream-connections", { body })).body as { id: ConnectionId };
  const path = `/upstream-connections/${id}`;
  const createLink = async (days = 7) =>
    (await staff.call("POST", `${path}/set-up-links`, { body: { days } })).body as Link;
  return { school, staff, id, path, createLink };
}

const newBrowser = () => randomBytes(32).toString("base64url");
const tokenOf = ({ url }: Link) => url.slice(url.lastIndexOf("/") + 1);
const dataOf = <Data>(answer: { problem: object | null; data?: Data }): Data => {
  if (answer.problem !== null) throw new Error(`refused: ${JSON.stringify(answer.problem)}`);
  return answer.data as Data;
};

async function openAsContact({ createLink, id }: Awaited<ReturnType<typeof makeSchool>>, browser = newBrowser()) {
  const link = await createLink();
  const caller = (await admin.setUp.open({ token: tokenOf(link), browser }))!;
  const api = admin.clientFor({ setUp: caller, requestId: "request-1" });
  const path = { connectionId: id };
  const codeOf = async (sent: Promise<{ problem: { code?: string } | null }>) => (await sent).problem?.code;
  return { link, caller, api, path, browser, codeOf };
}

test("a set-up link is shown once, opens in one browser, and is closed by staff", async () => {
  const world = await makeSchool();
  const { staff, path } = world;
  expect(refusalOf(await staff.call("POST", `${path}/set-up-links`, { body: { days: 31 } }))[0]).toBe(400);
  const { link, caller, browser } = await openAsContact(world);
  expect(link.url).toBe(`${service.url}/set-up/${tokenOf(link)}`);
  const expiresAt = new Date(clock().getTime() + 7 * 86_400_000).toISOString();
  const list = async () => (await staff.call("GET", `${path}/set-up-links`)).body as Schemas["UpstreamSetUpLink"][];
  const now = clock().toISOString();
  expect(await list()).toEqual([{ id: link.id, createdAt: now, expiresAt, openedAt: now, closedAt: null }]);
  expect(caller).toMatchObject({ setUpLinkId: link.id, connectionId: world.id, schoolId: world.school });
  const find = (of: string, id = link.id) => admin.setUp.find({ id, browser: of });
  expect(await admin.setUp.open({ token: tokenOf(link), browser: newBrowser() })).toBeNull();
  expect([await find(newBrowser()), await admin.setUp.open({ token: "unknown", browser })]).toEqual([null, null]);
  expect([await find(browser), await admin.setUp.open({ token: tokenOf(link), browser })]).toEqual([caller, caller]);
  const stranger = await makeSchool();
  const others = `${stranger.path}/set-up-links/${link.id}`;
  expect(refusalOf(await stranger.staff.call("DELETE", others))).toEqual([404, "set_up_link_not_found"]);
  expect((await staff.call("DELETE", `${path}/set-up-links/${link.id}`)).status).toBe(204);
  expect([await find(browser), (await list())[0]!.closedAt]).toEqual([null, now]);
  const lines = await db.prisma.audit.findMany({ where: { schoolId: world.school }, orderBy: { id: "asc" } });
  expect(lines.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["set_up_link_created", "set_up_link_closed"]),
  );
  expect(JSON.stringify(lines)).not.toContain(tokenOf(link));
});

test("five set-up links can be open, and one that has expired opens nothing", async () => {
  const { staff, path, createLink } = await makeSchool();
  const [first] = [await createLink(1), await createLink(), await createLink(), await createLink(), await createLink()];
  const body = { days: 7 };
  expect(refusalOf(await staff.call("POST", `${path}/set-up-links`, { body }))).toEqual([409, "set_up_links_open"]);
  await db.prisma.upstreamSetUpLink.update({ where: { id: first.id }, data: { expiresAt: clock() } });
  expect(await admin.setUp.open({ token: tokenOf(first), browser: newBrowser() })).toBeNull();
});

test("the contact goes from the empty connection over a test sign-in to one class that is in", async () => {
  const world = await makeSchool();
  const { school, id } = world;
  const group = await make.group({ school, name: "5a" });
  await make.group({ school, name: "AG", type: "SONSTIG" });
  const name = { firstFull: "Bo", firstCall: "Bo", last: "Muster" };
  const person = await make.person({ school, sourceSystemIdentifier: "17", name });
  await giveLogin(db, person);
  const { api, path, browser, caller, codeOf } = await openAsContact(world);
  const update = (body: Schemas["UpstreamConnectionUpdate"]) => {
    // Each change is a request at a time of its own.
    clock.forwardSeconds(1);
    return api.call("updateUpstreamConnection", { path, body });
  };
  const setUp = async () => dataOf(await api.call("getUpstreamSetUp", { path }));
  expect(await setUp()).toEqual({
    classes: [{ id: group, name: "5a" }],
    people: 1,
    ruleClaims: ["sub"],
    expiresAt: caller.expiresAt.toISOString(),
    test: null,
  });
  expect(dataOf(await api.call("getUpstreamConnection", { path }))).toMatchObject({
    ...addressesOf(issuerUrl, id),
    hasSecret: false,
  });
  expect(await codeOf(api.call("updateUpstreamMetadata", { path }))).toBe("upstream_incomplete");
  await update({ issuer: provider.issuer, clientId, clientSecret, ruleClaim: "employee_id" });
  expect(dataOf(await api.call("updateUpstreamMetadata", { path }))).toMatchObject({ isReached: true });
  expect(await codeOf(update({ state: "ON" }))).toBe("upstream_not_tested");

  provider.redirectUris.push(addressesOf(issuerUrl, id).redirectUri);
  provider.account = "teacher";
  provider.claims["teacher"] = { employee_id: "17", import_id: "99", name: "Bo Muster" };
  const of = { id: caller.setUpLinkId, browser, address: "192.0.2.1" };
  expect(await admin.setUp.startTest({ ...of, browser: newBrowser() })).toBeNull();
  const begun = (await admin.setUp.startTest(of)) as { redirectTo: URL };
  const finished = await party.finish(id, await provider.visit(begun.redirectTo), browser);
  expect(finished).toMatchObject({ kind: "tested", setUpLinkId: caller.setUpLinkId });
  const { test: tested } = await setUp();
  expect(tested).toMatchObject({ issuer: provider.issuer, subject: "teacher", refusal: "NONE", matches: 1, name });
  expect(tested!.claims).toEqual(expect.arrayContaining([{ name: "import_id", values: ["99"] }]));
  expect(tested!.suggestions[0]).toEqual({ claim: "employee_id", field: "SOURCE_SYSTEM_IDENTIFIER", matches: 1 });
  // Claims of the account are for the contact alone.
  const ofStaff = (await world.staff.call("GET", `${world.path}/set-up`)).body as Schemas["UpstreamSetUp"];
  expect([ofStaff.test, ofStaff.expiresAt]).toEqual([null, null]);
  const preview = await api.call("previewUpstreamRule", { path, body: { groupIds: [group] } });
  expect(dataOf(preview).roster).toEqual({ people: 0, withKey: 0, unique: 0 });

  expect((await update({ state: "ON", groupIds: [group] })).status).toBe(204);
  expect((await update({ state: "OFF" })).status).toBe(204);
  const lines = await db.prisma.audit.findMany({
    where: { schoolId: school, actorId: `set-up-link:${caller.setUpLinkId}` },
    orderBy: { at: "asc" },
  });
  expect(lines.map(({ action, after }) => [action, (after as { state?: string } | null)?.state])).toEqual([
    ["upstream_connection_updated", undefined],
    ["upstream_connection_updated", "ON"],
    ["upstream_connection_updated", "OFF"],
  ]);
  const audit = (await world.staff.call("GET", `/audit?school=${school}`)).body as Schemas["AuditLine"][];
  expect(audit.find(({ action }) => action === "upstream_connection_updated")!.actor).toMatchObject({
    program: `set-up-link:${caller.setUpLinkId}`,
  });
});

test("the contact changes nothing but how the login works", async () => {
  const world = await makeSchool();
  const { api, path, codeOf } = await openAsContact(world);
  const update = (body: Schemas["UpstreamConnectionUpdate"]) =>
    codeOf(api.call("updateUpstreamConnection", { path, body }));
  for (const body of [{ name: "Mine" }, { createsGuests: true }, { trustedForSecondFactor: true }])
    expect([body, await update({ ...body, issuer: provider.issuer })]).toEqual([body, "role_forbids"]);
  expect(dataOf(await api.call("getUpstreamConnection", { path }))).toMatchObject({ name: "Own login", issuer: null });
  const stranger = await makeSchool();
  const colleague = (
    await world.staff.call("POST", "/upstream-connections", {
      body: { schoolId: world.school, profile: "OIDC", name: "Another of the school" },
    })
  ).body as { id: string };
  for (const { id } of [stranger, colleague])
    expect(await codeOf(api.call("getUpstreamConnection", { path: { connectionId: id } }))).toBe(
      "upstream_connection_not_found",
    );
});

const places = listOperations(document).map(({ method, path, operation }) => ({
  id: operation.operationId,
  method,
  path,
  operation,
}));
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
const schoolId = "a0000000-0000-4000-8000-000000000001" as SchoolId;

/** Calls an operation as the contact of a connection would. Returns status and code. */
async function callAsContact({ path, operation }: (typeof places)[number]) {
  const setUp = { setUpLinkId: missing, connectionId: missing, schoolId, expiresAt: clock() } as SetUpCaller;
  const api = admin.clientFor({ setUp, requestId: "request-1" });
  const query = Object.fromEntries(
    (operation.parameters ?? [])
      .map((given) => resolve(document, given) as { in: string; name: string; required?: boolean; example?: unknown })
      .filter((parameter) => parameter.in === "query" && parameter.required === true)
      .map(({ name, example }) => [name, example]),
  );
  const known: Record<string, string> = { schoolId, deliveryId: "1" };
  const ids = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, known[name!] ?? missing]));
  const { requestBody } = operation as { requestBody?: { content: Record<string, { examples?: object }> } };
  const [[type, { examples = {} }] = ["", {}]] = Object.entries(requestBody?.content ?? {});
  const [example] = Object.values(examples) as never[];
  const isJson = type === "application/json";
  const body = isJson ? (resolve(document, example!) as { value: unknown }).value : Buffer.from("bytes");
  const given = requestBody === undefined ? {} : { body };
  const { status, problem } = await api.call(operation.operationId as never, { path: ids, query, ...given } as never);
  return [status, (problem as { code?: string } | null)?.code];
}

test("a set-up link allows five operations and no other", async () => {
  const withSetUpLink = Object.keys(callers).filter((id) => callers[id as keyof typeof callers].setUpLink);
  expect(withSetUpLink.sort()).toEqual([
    "getUpstreamConnection",
    "getUpstreamSetUp",
    "previewUpstreamRule",
    "updateUpstreamConnection",
    "updateUpstreamMetadata",
  ]);
  const others = places.filter(({ id }) => !withSetUpLink.includes(id));
  const called = await inBatches(others, async (place) => [place.id, ...(await callAsContact(place))]);
  expect(called).toEqual(others.map(({ id }) => [id, 403, "role_forbids"]));
});
