import { beforeAll, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { giveRole, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { admin, makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { listPlaces, type Place } from "./requests/operations.ts";

// Whoever changes the credentials of an app, or where its tokens go, has all that the app may do.
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const make = makeMakers(service.db);
const school = await make.school();
const operator = await makeStaff(service, "OPERATOR");

/** Operations that name an app and leave its credentials and addresses as they are. */
const harmless = new Set([
  // By which ids the app knows people; what it may do stays the same.
  ...["createIdMove", "updateIdMove", "applyIdMove", "deleteIdMove"],
  // What schools and providers agree on: `acceptAgreement` and the like give an app no more than it is registered for.
  ...["putAgreementDraft", "putAgreementPdf", "deleteAgreementDraft", "publishAgreement"],
  ...["acceptAgreement", "withdrawAgreement", "putWithheldAttributes"],
  "requestScopes",
  "createSandbox",
  "createEndpoint",
  "createListener",
  "putGrant",
  "deleteGrant",
]);
const ids = { apps: "the-app", schools: school };
const places = (await listPlaces(ids)).filter(
  ({ document, method, path, body, id }) =>
    document === "admin" &&
    method !== "GET" &&
    (path.includes(ids.apps) || id.endsWith("Grant") || body?.text.includes('"clientId":') === true),
);
const credentials = places.filter(({ id }) => !harmless.has(id));

function send(call: AdminClient, { method, path, body }: Place, clientId: ClientId) {
  const named = (text: string) =>
    text.replace(ids.apps, clientId).replace(/"clientId":"[^"]+"/, `"clientId":"${clientId}"`);
  const given =
    body === null
      ? {}
      : { body: body.type === "application/json" ? (JSON.parse(named(body.text)) as unknown) : Buffer.from("bytes") };
  return call(method as Parameters<AdminClient>[0], named(path).slice(admin.length), given);
}

const give = (role: StaffRoleName, clientId: ClientId, clientIds: ClientId[] = []) => {
  const at = service.clock();
  const support = role === "SUPPORT" ? { reason: "Ticket 17", endsAt: new Date(at.getTime() + 86_400_000) } : {};
  const schoolIds = role === "OPERATOR" || role === "PARTNER" ? [] : [school];
  const given = { role, holder: { clientId }, schoolIds, clientIds, ...support };
  return withPrismaTransaction(service.db, (tx) => giveRole(tx, given, { giver: null, origin: { at } }));
};

async function rowOf(clientId: ClientId): Promise<string> {
  const { rows } = await service.db.pool.query<{ row: string }>(
    "SELECT app::text AS row FROM app WHERE client_id = $1",
    [clientId],
  );
  return rows[0]?.row ?? "deleted";
}

test("the operations that change the credentials of an app are these", () => {
  expect(credentials.map(({ id }) => id).sort()).toEqual([
    ...["deleteApp", "deleteAppLogo", "endOldSecret", "putAppLogo", "rotateSecret", "updateApp"],
  ]);
});

const higher = staffRoleNames.filter((role) => role !== "PARTNER");
const callers: [StaffRoleName, AdminClient][] = [];
beforeAll(async () => {
  for (const role of higher.filter((one) => one !== "OPERATOR"))
    callers.push([role, (await makeStaff(service, role, { schoolIds: [school] })).call]);
});

const scoped = "scopes of the admin API";
test.each([...higher, scoped] as const)(
  "an app with %s: nobody but an operator changes its credentials",
  async (held) => {
    const app = await make.app(held === scoped ? { scopes: ["openid", "admin:read"] } : { redirectUris: [] });
    if (held !== scoped) await give(held, app.clientId);
    const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
    const before = await rowOf(app.clientId);
    const tried = held === "OPERATOR" ? places : credentials;
    const allowed: string[] = [];
    for (const [role, call] of [...callers, ["PARTNER", partner.call] as const]) {
      const sent = await Promise.all(
        tried.map(async (place) => ({ place, answer: await send(call, place, app.clientId) })),
      );
      for (const { place, answer } of sent)
        if (credentials.includes(place) && refusalOf(answer).join() !== "403,role_forbids")
          allowed.push(`${role} ${place.id}`);
    }
    expect([allowed, await rowOf(app.clientId)]).toEqual([[], before]);
    const path = `/apps/${app.clientId}`;
    expect((await operator.call("POST", `${path}/secret`)).status).toBe(200);
    const opened = await operator.call("PATCH", path, { body: { redirectUris: ["https://app.example/cb"] } });
    expect(opened.status).toBe(204);
  },
);

test("a partner changes an app that works for the same partner, until the app can act for people as staff", async () => {
  const app = await make.app({ scopes: ["admin:read", "admin:write"], redirectUris: [] });
  await give("PARTNER", app.clientId, [app.clientId]);
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const path = `/apps/${app.clientId}`;
  expect((await call("POST", `${path}/secret`)).status).toBe(200);
  expect((await call("PATCH", path, { body: { name: "Automation" } })).status).toBe(204);
  const before = await rowOf(app.clientId);
  const opened = await call("PATCH", path, { body: { redirectUris: ["https://app.example/cb"] } });
  expect(refusalOf(opened)).toEqual([403, "role_forbids"]);
  expect(await rowOf(app.clientId)).toBe(before);
});

test("who holds the app's role beside PARTNER changes its credentials", async () => {
  const app = await make.app();
  await give("SECRETARY", app.clientId);
  const { app: both, call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  expect(refusalOf(await call("POST", `/apps/${app.clientId}/secret`))).toEqual([403, "role_forbids"]);
  await give("SECRETARY", both.clientId);
  expect((await call("POST", `/apps/${app.clientId}/secret`)).status).toBe(200);
});
