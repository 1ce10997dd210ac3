import { beforeAll, describe, expect, test } from "vitest";
import { operationIds } from "../../src/admin/handlers.ts";
import { rights } from "../../src/admin/rights.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { adminScopesOf, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { admin, makeAdminClient, makeStaff, type AdminClient, type Sent, refusalOf } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { makeSchemaCheck } from "../support/schema-check.ts";
import { startService } from "../support/service.ts";
import { getAppToken } from "../support/token.ts";
import { printRights } from "./rights-print.ts";

// Walks every operation of the admin contract.
const document = await loadDocument("admin", "schultor");
const places = listOperations(document).map(({ method, path, operation }) => ({
  id: operation.operationId,
  method: method.toUpperCase() as Parameters<AdminClient>[0],
  path,
  operation,
}));
const served = places;
type Place = (typeof places)[number];

const service = await startService();
const make = makeMakers(service.db);
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

let foreignSchool: string;
let tokens: Record<"read" | "write", string>;
const staff = new Map<StaffRoleName, AdminClient>();

beforeAll(async () => {
  const [school, app] = [await make.school(), await make.app()];
  foreignSchool = await make.school();
  for (const role of staffRoleNames) {
    const isOfApp = role === "PARTNER";
    const schoolIds = isOfApp || role === "OPERATOR" ? [] : [school];
    staff.set(role, (await makeStaff(service, role, { schoolIds, clientIds: isOfApp ? [app.clientId] : [] })).call);
  }
  const poor = await make.app({ scopes: ["admin:read", "admin:write"] });
  tokens = {
    read: await getAppToken(service, poor, ["admin:read"]),
    write: await getAppToken(service, poor, ["admin:write"]),
  };
});

/** Values that every operation takes: its address, required parameters and a body that its schema allows. */
function requestOf({ path, operation }: Place, school: string) {
  const known: Record<string, string> = { schoolId: school, deliveryId: "4711" };
  const ids = path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? missing);
  const query = new URLSearchParams();
  for (const given of operation.parameters ?? []) {
    const parameter = resolve(document, given) as { in: string; name: string; required?: boolean; example?: unknown };
    if (parameter.in === "query" && parameter.required === true)
      query.set(parameter.name, parameter.name === "school" ? school : String(parameter.example));
  }
  return `${ids.slice(admin.length)}${query.size > 0 ? `?${query.toString()}` : ""}`;
}

function bodyOf({ operation }: Place): { body?: unknown } {
  const content = (operation as { requestBody?: { content: Record<string, { examples?: Record<string, unknown> }> } })
    .requestBody?.content;
  if (content !== undefined && "image/png" in content) return { body: Buffer.from("bytes") };
  const [example] = Object.values(content?.["application/json"]?.examples ?? {});
  return example === undefined ? {} : { body: (resolve(document, example as never) as { value: unknown }).value };
}

const send = (call: AdminClient, place: Place, school = missing) =>
  call(place.method, requestOf(place, school), bodyOf(place));

function expectDescribed({ operation }: Place, { status, headers, body }: Sent): void {
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  expect(makeSchemaCheck(document)(operation.responses[String(status)], type, body)).toEqual([]);
}

test("the matrix of roles and operations is the committed one", async () => {
  await expect(printRights()).toMatchFileSnapshot("rights.txt");
});

test("every operation of the contract has its rights, and no other", () => {
  expect(Object.keys(rights).sort()).toEqual(places.map(({ id }) => id).sort());
  expect(operationIds.toSorted()).toEqual(served.map(({ id }) => id).sort());
  for (const allowed of Object.values(rights)) expect(allowed).toContain("OPERATOR");
});

test("a role gives the scopes of the admin API that some operation of its own asks for", () => {
  for (const role of staffRoleNames) {
    const own = places.filter(({ id }) => (rights[id as keyof typeof rights] as readonly string[]).includes(role));
    const scopes = new Set(own.map(({ method }) => (method === "GET" ? "admin:read" : "admin:write")));
    expect([role, adminScopesOf([role])]).toEqual([role, [...scopes].sort()]);
  }
  expect(adminScopesOf([])).toEqual([]);
});

describe.each(served)("$id", (place) => {
  const scope = place.method === "GET" ? "read" : "write";

  test("refuses a call without a token, and one with an unknown token", async () => {
    const path = service.url + admin + requestOf(place, missing);
    const response = await fetch(path, { method: place.method });
    const body: unknown = await response.json();
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expectDescribed(place, { status: 401, headers: response.headers, body });
    expect(refusalOf(await send(makeAdminClient(service, "unknown"), place))[0]).toBe(401);
  });

  test("refuses a token without its scope", async () => {
    const sent = await send(makeAdminClient(service, tokens[scope === "read" ? "write" : "read"]), place);
    expect(refusalOf(sent)).toEqual([403, "insufficient_scope"]);
    expect(sent.headers.get("www-authenticate")).toBe(
      `Bearer error="insufficient_scope", scope="urn:schultor:admin:v1:${scope}"`,
    );
    expectDescribed(place, sent);
  });

  test("refuses each role that the matrix does not allow, and only those", async () => {
    const allowed: readonly StaffRoleName[] = rights[place.id as keyof typeof rights];
    const outcomes = [];
    for (const [role, call] of staff) {
      const sent = await send(call, place, foreignSchool);
      const isForbidden = sent.status === 403 && refusalOf(sent)[1] === "role_forbids";
      if (isForbidden) expectDescribed(place, sent);
      outcomes.push([role, isForbidden]);
    }
    expect(outcomes).toEqual(staffRoleNames.map((role) => [role, !allowed.includes(role)]));
    const withoutRole = await send(makeAdminClient(service, tokens[scope]), place);
    if (place.id === "getMe") expect(withoutRole).toMatchObject({ status: 200, body: { roles: [] } });
    else expect(refusalOf(withoutRole)).toEqual([403, "role_forbids"]);
  });
});

const namesSchool = ({ path }: Place) => path.includes("{schoolId}");
const takesSchool = ({ operation }: Place) =>
  (operation.parameters ?? []).some((given) => {
    const parameter = resolve(document, given) as { in: string; name: string };
    return parameter.in === "query" && parameter.name === "school";
  });

test.each(served.filter((place) => namesSchool(place) || takesSchool(place)))(
  "$id answers a school that is not reached as one that does not exist",
  async (place) => {
    const allowed: readonly StaffRoleName[] = rights[place.id as keyof typeof rights];
    const askFor = async (call: AdminClient, school: string) => {
      const path = new URL(requestOf(place, school), "http://x/");
      if (takesSchool(place)) path.searchParams.set("school", school);
      const sent = await call(place.method, path.pathname + path.search, bodyOf(place));
      expectDescribed(place, sent);
      return [sent.status, { ...(sent.body as object), requestId: "" }];
    };
    for (const [role, call] of staff) {
      if (role === "OPERATOR" || !allowed.includes(role)) continue;
      const [hidden, unknown] = [await askFor(call, foreignSchool), await askFor(call, missing)];
      expect([role, hidden]).toEqual([role, unknown]);
      expect([role, hidden[0]]).toEqual([role, 404]);
    }
  },
);
