import { beforeAll, expect, test } from "vitest";
import { operationIds } from "../../src/admin/handlers.ts";
import { ownRights, rights } from "../../src/admin/rights.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { adminScopesOf, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { admin, makeAdminClient, makeStaff, refusalOf, withoutRequest, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";

// Walks every operation of the admin contract; the proxy of the tests holds each answer against the contract.
const document = await loadDocument("admin", "schultor");
const places = listOperations(document)
  .map(({ method, path, operation }) => ({
    id: operation.operationId as keyof typeof rights,
    method: method.toUpperCase() as Parameters<AdminClient>[0],
    path,
    operation,
  }))
  .sort((a, b) => (a.id < b.id ? -1 : 1));
type Place = (typeof places)[number];

const service = await startService();
const make = makeMakers(service.db);
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

/** Values that every operation takes: its address, required parameters and a body that its schema allows. */
function requestOf({ method, path, operation }: Place, school: string): Parameters<AdminClient> {
  const known: Record<string, string> = { schoolId: school, deliveryId: "4711" };
  const ids = path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? missing);
  const query = new URLSearchParams();
  for (const given of operation.parameters ?? []) {
    const parameter = resolve(document, given) as { in: string; name: string; required?: boolean; example?: unknown };
    if (parameter.in !== "query") continue;
    if (parameter.name === "school") query.set("school", school);
    else if (parameter.required === true) query.set(parameter.name, String(parameter.example));
  }
  const address = `${ids.slice(admin.length)}${query.size > 0 ? `?${query.toString()}` : ""}`;
  return [method, address, bodyOf(operation)];
}

function bodyOf({ requestBody }: Place["operation"]): { body?: unknown } {
  const content = requestBody?.content as Record<string, { examples?: Record<string, unknown> }> | undefined;
  if (content !== undefined && "image/png" in content) return { body: Buffer.from("bytes") };
  const [example] = Object.values(content?.["application/json"]?.examples ?? {});
  return example === undefined ? {} : { body: (resolve(document, example as never) as { value: unknown }).value };
}

let foreign: string;
const staff = new Map<StaffRoleName, AdminClient>();

beforeAll(async () => {
  const [own, { clientId }] = [await make.school(), await make.app()];
  foreign = await make.school();
  for (const role of staffRoleNames) {
    const reach = role === "PARTNER" ? { clientIds: [clientId] } : role === "OPERATOR" ? {} : { schoolIds: [own] };
    staff.set(role, (await makeStaff(service, role, reach)).call);
  }
});

/** The work for every operation, for eight of them at a time. */
async function forEachPlace<Done>(work: (place: Place) => Promise<Done>): Promise<Done[]> {
  const done: Done[] = [];
  for (let from = 0; from < places.length; from += 8)
    done.push(...(await Promise.all(places.slice(from, from + 8).map(work))));
  return done;
}

test("the matrix of roles and operations is the committed one", async () => {
  const width = Math.max(...places.map(({ id }) => id.length));
  const lines = places.map(({ id }) => {
    const roles: readonly string[] = rights[id];
    const cells = staffRoleNames.map((role) => (roles.includes(role) ? role : "-").padEnd(role.length));
    return [id.padEnd(width), ...cells, ownRights.has(id) ? "OWN" : "-"].join("  ");
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("rights.txt");
});

test("every operation of the contract has its rights, and no other", () => {
  expect(Object.keys(rights).sort()).toEqual(places.map(({ id }) => id));
  expect(operationIds.toSorted()).toEqual(places.map(({ id }) => id));
});

test("a role gives the scopes of the admin API that some operation of its own asks for", () => {
  for (const role of staffRoleNames) {
    const own = places.filter(({ id }) => (rights[id] as readonly string[]).includes(role));
    const scopes = new Set(own.map(({ method }) => (method === "GET" ? "admin:read" : "admin:write")));
    expect([role, adminScopesOf([role])]).toEqual([role, [...scopes].sort()]);
  }
  expect(adminScopesOf([])).toEqual([]);
});

test.each(staffRoleNames)(
  "%s is served what the matrix allows; a school out of reach is as one that does not exist",
  async (role) => {
    const call = staff.get(role)!;
    const called = await forEachPlace(async (place) => {
      const sent = await call(...requestOf(place, foreign));
      const line = { id: place.id, isServed: refusalOf(sent)[1] !== "role_forbids" };
      const namesSchool = requestOf(place, foreign)[1].includes(foreign);
      if (role === "OPERATOR" || !line.isServed || !namesSchool) return line;
      const unknown = await call(...requestOf(place, missing));
      expect([place.id, sent.status, withoutRequest(sent)]).toEqual([place.id, 404, withoutRequest(unknown)]);
      return line;
    });
    const isAllowed = (id: Place["id"]) => (rights[id] as readonly string[]).includes(role);
    expect(called).toEqual(places.map(({ id }) => ({ id, isServed: isAllowed(id) })));
  },
);

test("a caller without a token, without the scope of the operation or without a role is refused", async () => {
  const poor = await make.app({ scopes: ["admin:read", "admin:write"] });
  const withScope = async (scope: "read" | "write") =>
    makeAdminClient(service, await getAppToken(service, poor, [`admin:${scope}`]));
  const [reads, writes] = [await withScope("read"), await withScope("write")];
  const called = await forEachPlace(async (place) => {
    const request = requestOf(place, missing);
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
