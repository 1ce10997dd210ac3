import { expect, test } from "vitest";
import { operationIds } from "../../src/admin/handlers.ts";
import { callers } from "../../src/admin/rights.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { adminScopesOf, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { admin, idsOf, makeAdminClient, makeStaff, refusalOf } from "../support/admin.ts";
import { withoutRequest, type AdminClient } from "../support/admin.ts";
import { rosterOf, rosterType } from "../support/import-office.ts";
import { inBatches } from "../support/in-batches.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { getAppToken, giveLogin } from "../support/token.ts";

// Walks every operation of the admin contract; the proxy of the tests holds each answer against the contract.
const document = await loadDocument("admin", "schultor");
const places = listOperations(document)
  .map(({ method, path, operation }) => ({
    id: operation.operationId as keyof typeof callers,
    method: method.toUpperCase() as Parameters<AdminClient>[0],
    path,
    operation,
  }))
  .sort((a, b) => (a.id < b.id ? -1 : 1));
type Place = (typeof places)[number];

hashAllQuickly();
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

type Ids = Record<string, string>;

/** Values that every operation takes: its address, required parameters and a body that its schema allows. */
function requestOf({ method, path, operation }: Place, ids: Ids): Parameters<AdminClient> {
  const address = path.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? noIds[name] ?? missing);
  const query = new URLSearchParams();
  for (const given of operation.parameters ?? []) {
    const parameter = resolve(document, given) as { in: string; name: string; required?: boolean; example?: unknown };
    if (parameter.in !== "query") continue;
    if (parameter.name === "school") query.set("school", ids["schoolId"] ?? missing);
    else if (parameter.required === true) query.set(parameter.name, String(parameter.example));
  }
  return [method, `${address.slice(admin.length)}${query.size > 0 ? `?${query.toString()}` : ""}`, bodyOf(operation)];
}

function bodyOf({ requestBody }: Place["operation"]): { body?: unknown } {
  const content = requestBody?.content as Record<string, { examples?: Record<string, unknown> }> | undefined;
  if (content !== undefined && "image/png" in content) return { body: Buffer.from("bytes") };
  const [example] = Object.values(content?.["application/json"]?.examples ?? {});
  return example === undefined ? {} : { body: (resolve(document, example as never) as { value: unknown }).value };
}

const noIds: Ids = { deliveryId: "4711" };
const ownSchool = await make.school();
const ownApp = (await make.app()).clientId;
const own: Ids = { schoolId: ownSchool, clientId: ownApp };

const staff = new Map<StaffRoleName, AdminClient>();
for (const role of staffRoleNames) {
  const atSchool = role === "OPERATOR" ? {} : { schoolIds: [ownSchool] };
  staff.set(role, (await makeStaff(service, role, role === "PARTNER" ? { clientIds: [ownApp] } : atSchool)).call);
}
const foreign = await makeForeign();

/** An id of each kind, at a school and of an app that none of the staff but the operator reaches. */
async function makeForeign(): Promise<Ids> {
  const [schoolId, { clientId }] = [await make.school(), await make.app()];
  const groupId = await make.group({ school: schoolId });
  const personId = await make.person({ school: schoolId, groups: [groupId] });
  await giveLogin(service.db, personId);
  await make.grant({ app: clientId, school: schoolId, groups: [groupId] });
  const agreementId = (await make.agreement(clientId)).id;
  const operator = staff.get("OPERATOR")!;
  const add = async (path: string, body: unknown, headers = {}) => {
    const sent = await operator("POST", path, { body, headers });
    expect([path, sent.status]).toEqual([path, 201]);
    return (sent.body as { id: string }).id;
  };
  const atSchool = `/schools/${schoolId}`;
  const connectionId = await add("/upstream-connections", { schoolId, profile: "OIDC", name: "Own login" });
  await operator("PUT", `${atSchool}/apps/${clientId}/agreement`, { body: { agreementId, withheld: [] } });
  const [receipt] = idsOf(await operator("GET", `${atSchool}/agreement-receipts`));
  const endpointId = await add("/webhook-endpoints", {
    clientId,
    url: "http://127.0.0.1:9/hook",
    eventTypes: ["person"],
  });
  const sent = await operator("POST", `/webhook-endpoints/${endpointId}/test`);
  const sandbox = await operator("POST", `/apps/${clientId}/sandboxes`);
  const holder = { personId };
  const batch = { newPasswords: true, withQr: false, onlyMissing: false, roles: ["STUDENT"] };
  return {
    schoolId,
    clientId,
    groupId,
    personId,
    agreementId,
    connectionId,
    endpointId,
    agreementReceiptId: receipt!,
    deliveryId: (sent.body as { deliveryId: string }).deliveryId,
    sandboxId: (sandbox.body as { sandbox: { id: string } }).sandbox.id,
    setUpLinkId: await add(`/upstream-connections/${connectionId}/set-up-links`, { days: 7 }),
    importId: await add(`/imports?school=${schoolId}`, rosterOf("1;student;Ada;Muster;5a"), rosterType),
    dataRequestId: await add(`/people/${personId}/data-requests`, { askedBy: "PERSON" }),
    handoverId: await add(`${atSchool}/handovers`, { personIds: [personId], toSchoolId: await make.school() }),
    mergerId: await add(`/schools/${await make.school()}/mergers`, { intoSchoolId: schoolId }),
    credentialBatchId: await add(`${atSchool}/credential-batches`, batch),
    staffRoleId: await add("/staff-roles", { role: "SECRETARY", holder, schoolIds: [schoolId] }),
    scopeRequestId: await add(`/apps/${clientId}/scope-requests`, { scopes: ["pseudonym"], reason: "Names" }),
  };
}

test("the matrix of roles and operations is the committed one", async () => {
  const width = Math.max(...places.map(({ id }) => id.length));
  const lines = places.map(({ id }) => {
    const { roles, self } = callers[id];
    const cells = staffRoleNames.map((role) => (roles.includes(role) ? role : "-").padEnd(role.length));
    return [id.padEnd(width), ...cells, self ? "OWN" : "-"].join("  ");
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("rights.txt");
});

test("every operation of the contract has its rights, and no other", () => {
  expect(Object.keys(callers).sort()).toEqual(places.map(({ id }) => id));
  expect(operationIds.toSorted()).toEqual(places.map(({ id }) => id));
});

test("a role gives the scopes of the admin API that some operation of its own asks for", () => {
  for (const role of staffRoleNames) {
    const own = places.filter(({ id }) => callers[id].roles.includes(role));
    const scopes = new Set(own.map(({ method }) => (method === "GET" ? "admin:read" : "admin:write")));
    expect([role, adminScopesOf([role])]).toEqual([role, [...scopes].sort()]);
  }
  expect(adminScopesOf([])).toEqual([]);
});

/** Roles whose reach is by schools, by groups and by apps. */
const reaching: StaffRoleName[] = ["SCHOOL_ADMIN", "CLASS_TEACHER", "PARTNER"];

test.each(staffRoleNames.flatMap((role) => [[role, "reads"] as const, [role, "changes"] as const]))(
  "%s %s what the matrix allows; what is out of reach is as what does not exist",
  async (role, kind) => {
    const asked = places.filter(({ method }) => (method === "GET") === (kind === "reads"));
    const call = staff.get(role)!;
    const isAllowed = (id: Place["id"]) => callers[id].roles.includes(role);
    const askFor = (place: Place, ids: Ids) => call(...requestOf(place, ids));
    const called = await inBatches(asked, async (place) => {
      const { id, path } = place;
      const hidden = await askFor(place, role === "OPERATOR" ? {} : foreign);
      const isServed = refusalOf(hidden)[1] !== "role_forbids";
      if (role === "OPERATOR" || !isServed || requestOf(place, foreign)[1] === requestOf(place, {})[1])
        return { id, isServed };
      expect([id, ...refusalOf(hidden)]).toEqual([id, 404, expect.stringMatching(/_not_found$/)]);
      if (!reaching.includes(role)) return { id, isServed };
      expect([id, withoutRequest(hidden)]).toEqual([id, withoutRequest(await askFor(place, {}))]);
      // Of another school, below the address of the own one.
      if (![...path.matchAll(/\{(\w+)\}/g)].some(([, name]) => !(name! in own))) return { id, isServed };
      const [below, unknown] = [await askFor(place, { ...foreign, ...own }), await askFor(place, own)];
      expect([id, below.status, withoutRequest(below)]).toEqual([id, unknown.status, withoutRequest(unknown)]);
      return { id, isServed };
    });
    expect(called).toEqual(asked.map(({ id }) => ({ id, isServed: isAllowed(id) })));
  },
);

test("a caller without a token, without the scope of the operation or without a role is refused", async () => {
  const poor = await make.app({ scopes: ["admin:read", "admin:write"] });
  const withScope = async (scope: "read" | "write") =>
    makeAdminClient(service, await getAppToken(service, poor, [`admin:${scope}`]));
  const [reads, writes] = [await withScope("read"), await withScope("write")];
  const called = await inBatches(places, async (place) => {
    const request = requestOf(place, {});
    const noToken = await fetch(service.url + admin + request[1], { method: place.method });
    await noToken.text();
    const [allowed, other] = place.method === "GET" ? [reads, writes] : [writes, reads];
    const noScope = await other(...request);
    return {
      id: place.id,
      noToken: [noToken.status, noToken.headers.get("www-authenticate")],
      noScope: [...refusalOf(noScope), noScope.headers.get("www-authenticate")],
      noRole: refusalOf(await allowed(...request)),
    };
  });
  const bearer = (scope: string) => `Bearer error="insufficient_scope", scope="urn:schultor:admin:v1:${scope}"`;
  const refused = places.map(({ id, method }) => ({
    id,
    noToken: [401, "Bearer"],
    noScope: [403, "insufficient_scope", bearer(method === "GET" ? "read" : "write")],
    noRole: id === "getMe" ? [200, undefined] : [403, "role_forbids"],
  }));
  expect(called).toEqual(refused);
  expect(refusalOf(await makeAdminClient(service, "unknown")("GET", "/me"))[0]).toBe(401);
});
