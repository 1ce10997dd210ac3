import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { idsOf, makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getAppToken } from "../../support/token.ts";

type Schemas = components["schemas"];
type ScopeRequest = Schemas["ScopeRequest"];

const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const [own, foreign] = [await make.app({ name: "Own", scopes: ["openid"] }), await make.app({ name: "Foreign" })];
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const path = `/apps/${own.clientId}/scope-requests`;
const body = { scopes: ["openid", "profile", "people:read"], reason: "Teachers set exercises." };
const auditOf = (clientId: string, action: string) =>
  service.db.prisma.audit.findMany({ where: { clientId, action }, orderBy: { id: "asc" } });
const scopesOf = async (clientId: string) =>
  ((await operator.call("GET", `/apps/${clientId}`)).body as Schemas["AdminApp"]).scopes;
const decide = (id: string, way: "approval" | "refusal", note?: string) =>
  operator.call("POST", `/scope-requests/${id}/${way}`, note === undefined ? {} : { body: { note } });

test("a partner asks for scopes, an operator refuses with a note, and approves when asked again", async () => {
  const headers = { "idempotency-key": "ask" };
  const asked = await partner.call("POST", path, { body, headers });
  const again = await partner.call("POST", path, { body, headers });
  expect([asked.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, asked.body, "true"]);
  const made = asked.body as ScopeRequest;
  expect(made).toMatchObject({
    clientId: own.clientId,
    appName: "Own",
    scopes: ["profile", "people:read"],
    reason: body.reason,
    state: "REQUESTED",
    requestedAt: "2026-02-03T08:00:00.000Z",
    decidedAt: null,
    note: null,
  });
  expect(refusalOf(await partner.call("POST", path, { body }))).toEqual([409, "scope_request_open"]);
  expect(await auditOf(own.clientId, "scopes_requested")).toMatchObject([{ actorRole: "PARTNER", after: made }]);
  expect(refusalOf(await decide(made.id, "refusal"))).toEqual([400, "invalid_request"]);
  const refused = await decide(made.id, "refusal", "Say what you keep.");
  expect(refused.body).toMatchObject({ id: made.id, state: "REFUSED", note: "Say what you keep." });
  expect(await scopesOf(own.clientId)).toEqual(["openid"]);
  expect(refusalOf(await decide(made.id, "approval"))).toEqual([409, "scope_request_decided"]);
  service.clock.forwardSeconds(1);

  const second = (await partner.call("POST", path, { body })).body as ScopeRequest;
  await expect(getAppToken(service, own, ["people:read"])).rejects.toThrow();
  const approved = await decide(second.id, "approval");
  expect(approved.body).toMatchObject({ state: "APPROVED", decidedAt: "2026-02-03T08:00:01.000Z", note: null });
  expect(await scopesOf(own.clientId)).toEqual(["openid", "profile", "people:read"]);
  await getAppToken(service, own, ["people:read"]);
  const [line] = await auditOf(own.clientId, "scope_request_approved");
  expect(line).toMatchObject({
    actorRole: "OPERATOR",
    before: { state: "REQUESTED" },
    after: { state: "APPROVED", scopesOfApp: ["openid", "profile", "people:read"] },
  });
  expect(refusalOf(await decide(second.id, "refusal", "No."))).toEqual([409, "scope_request_decided"]);
  expect(refusalOf(await partner.call("POST", path, { body }))).toEqual([409, "scopes_granted_already"]);
  expect(idsOf(await partner.call("GET", "/scope-requests"))).toEqual([second.id, made.id]);
  expect(idsOf(await partner.call("GET", "/scope-requests?state=REFUSED"))).toEqual([made.id]);
  const page = await operator.call("GET", `/scope-requests?app=${own.clientId}&limit=1`);
  expect(idsOf(await operator.call("GET", nextPage(page)!))).toEqual([made.id]);
});

test("OneRoster is refused without the scopes of what it shows, in a registration, a change and a request", async () => {
  const faults = (message: string) => [
    {
      pointer: "/scopes",
      rule: "roster_scopes_refused",
      message: `oneroster:read needs other scopes too, which are missing: ${message}.`,
    },
  ];
  const ask = async (method: "POST" | "PATCH", address: string, wishes: object) => {
    const { status, body: problem } = await operator.call(method, address, { body: wishes });
    return [status, (problem as { errors?: unknown } | undefined)?.errors];
  };
  const newApp = { name: "Roster", redirectUris: [] };
  expect(await ask("POST", "/apps", { ...newApp, scopes: ["oneroster:read"] })).toEqual([
    400,
    faults("schools:read, groups:read, people:read"),
  ]);
  const scopes = ["schools:read", "groups:read"] as const;
  const { clientId } = await make.app({ scopes: [...scopes] });
  const requests = `/apps/${clientId}/scope-requests`;
  const reason = "We read classes.";
  expect(await ask("POST", requests, { scopes: ["oneroster:read"], reason })).toEqual([400, faults("people:read")]);
  expect(await ask("PATCH", `/apps/${clientId}`, { scopes: [...scopes, "oneroster:read"] })).toEqual([
    400,
    faults("people:read"),
  ]);
  const asked = await operator.call("POST", requests, {
    body: { scopes: ["people:read", "oneroster:read"], reason },
  });
  const { id } = asked.body as ScopeRequest;
  await operator.call("PATCH", `/apps/${clientId}`, { body: { scopes: ["schools:read"] } });
  expect(await ask("POST", `/scope-requests/${id}/approval`, { note: "Yes." })).toEqual([400, faults("groups:read")]);
  await operator.call("PATCH", `/apps/${clientId}`, { body: { scopes } });
  expect((await decide(id, "approval")).status).toBe(200);
  expect(await ask("PATCH", `/apps/${clientId}`, { scopes: ["groups:read", "people:read", "oneroster:read"] })).toEqual(
    [400, faults("schools:read")],
  );
  const all = await make.app({ scopes: [...scopes, "people:read", "oneroster:read"] });
  expect(await scopesOf(all.clientId)).toContain("oneroster:read");
});

test("of two decisions at the same time one holds", async () => {
  const { clientId } = await make.app({ scopes: [] });
  const wish = { body: { scopes: ["openid"], reason: "Sign-on" } };
  const { id } = (await operator.call("POST", `/apps/${clientId}/scope-requests`, wish)).body as ScopeRequest;
  const sent = await Promise.all([decide(id, "approval"), decide(id, "refusal", "No."), decide(id, "approval")]);
  expect(sent.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(sent.filter(({ status }) => status === 409)).toHaveLength(2);
});

test("apps of others are refused", async () => {
  expect(refusalOf(await partner.call("GET", `/scope-requests?app=${foreign.clientId}`))).toEqual([
    404,
    "app_not_found",
  ]);
  const { id } = (
    await operator.call("POST", `/apps/${foreign.clientId}/scope-requests`, {
      body: { ...body, scopes: ["admin:read"] },
    })
  ).body as ScopeRequest;
  expect(idsOf(await partner.call("GET", "/scope-requests"))).not.toContain(id);
  const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
  expect(refusalOf(await decide(missing, "approval"))).toEqual([404, "scope_request_not_found"]);
  const unseen = { body: { ...body, reason: "a\u202eb" } };
  expect(
    refusalOf(await operator.call("POST", path, { body: { ...body, scopes: ["groups"], reason: "a\u202eb" } })),
  ).toEqual([400, "text_unprintable"]);
  expect(refusalOf(await partner.call("POST", path, { body: { ...unseen.body, scopes: ["all"] } }))[0]).toBe(400);
});

test("a partner registers an app of their own: without scopes, in no catalogue, and theirs from then on", async () => {
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
  const made = await call("POST", "/apps", { body: { name: "New", redirectUris: ["https://new.example/"] } });
  const { clientId } = made.body as Schemas["AppCredentials"];
  expect([made.status, await scopesOf(clientId)]).toEqual([201, []]);
  expect((await call("PATCH", `/apps/${clientId}`, { body: { provider: "Verlag" } })).status).toBe(204);
  expect((await partner.call("GET", `/apps/${clientId}`)).status).toBe(404);
  const catalogue = async () =>
    ((await admin.call("GET", `/schools/${school}/catalogue`)).body as Schemas["CatalogueApp"][]).map(
      ({ name }) => name,
    );
  expect(await catalogue()).not.toContain("New");
  const wish = { body: { scopes: ["openid"], reason: "Sign-on" } };
  const { id } = (await call("POST", `/apps/${clientId}/scope-requests`, wish)).body as ScopeRequest;
  expect((await decide(id, "approval", "Welcome.")).status).toBe(200);
  expect(await catalogue()).toContain("New");
  expect(await auditOf(clientId, "staff_role_extended")).toMatchObject([{ actorRole: "PARTNER" }]);
  for (let n = 0; n < 10; n++) expect((await call("POST", "/apps", { body: { name: `More ${n}` } })).status).toBe(201);
  expect(refusalOf(await call("POST", "/apps", { body: { name: "Too many" } }))).toEqual([
    409,
    "too_many_apps_without_scopes",
  ]);
  expect(await service.db.prisma.app.count({ where: { name: "Too many" } })).toBe(0);
});
