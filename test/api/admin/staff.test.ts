import { beforeEach, describe, expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import {
  makeAdminClient,
  makeStaff,
  type AdminClient,
  type Sent,
  idsOf,
  refusalOf,
  readPages,
} from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, getUserTokens, giveLogin } from "../../support/token.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);

const [school, other] = [await make.school(), await make.school()];
const app = (await make.app()).clientId;
const operator = (await makeStaff(service, "OPERATOR")).call;
const { app: adminApp, call: admin } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });

const start = service.clock();
beforeEach(() => service.clock.set(start));

const colleague = (at = school): Promise<PersonId> => make.person({ school: at, role: "TEACHER" });
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";
const give = async (call: AdminClient, body: object, headers: Record<string, string> = {}) =>
  call("POST", "/staff-roles", { body, headers });
const given = async (call: AdminClient, body: object) => (await give(call, body)).body as { id: string };
const secretaryOf = (personId: string, schoolIds: string[] = [school]) => ({
  holder: { personId },
  role: "SECRETARY",
  schoolIds,
});
const without = ({ body }: Sent) => ({ ...(body as object), requestId: "" });
const linesAbout = (personId: string) =>
  service.db.prisma.audit.findMany({
    where: { personId, action: { startsWith: "staff_role" } },
    orderBy: { action: "asc" },
  });

describe("giving", () => {
  test("an admin gives a secretary's role, which is listed, and recorded with who gave it", async () => {
    const personId = await colleague();
    const made = await give(admin, secretaryOf(personId));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      holder: { personId, clientId: null },
      role: "SECRETARY",
      schoolIds: [school],
      clientIds: [],
      reason: null,
      endsAt: null,
      givenAt: "2026-02-03T08:00:00.000Z",
    });
    const listed = (await admin("GET", `/staff-roles?person=${personId}`)).body as { personName: { last: string } }[];
    expect(listed).toMatchObject([{ ...(made.body as object), appName: null }]);
    expect(listed[0]!.personName.last).not.toBe("");
    expect(await linesAbout(personId)).toMatchObject([
      {
        action: "staff_role_given",
        actorId: `app:${adminApp.clientId}`,
        actorRole: "SCHOOL_ADMIN",
        schoolId: school,
        before: null,
        after: made.body,
      },
    ]);
  });

  test("a person with the role works with it at once, through an app that they signed in to", async () => {
    const personId = await colleague();
    const login = await giveLogin(service.db, personId);
    const portal = await make.app({ scopes: ["openid", "admin:read", "admin:write"] });
    await make.grant({ app: portal.clientId, school });
    await given(operator, { holder: { personId }, role: "SCHOOL_ADMIN", schoolIds: [school] });
    const scopes = ["openid", "admin:read", "admin:write"] as const;
    const { access_token: token } = await getUserTokens(service, portal, login, { scopes });
    const call = makeAdminClient(service, token);
    expect((await call("GET", "/me")).body).toMatchObject({
      personId,
      clientId: portal.clientId,
      roles: [{ role: "SCHOOL_ADMIN" }],
      schools: [{ id: school }],
    });
    const next = await colleague();
    expect((await give(call, secretaryOf(next))).status).toBe(201);
    expect(await linesAbout(next)).toMatchObject([{ actorId: `person:${personId}`, actorRole: "SCHOOL_ADMIN" }]);
  });

  test("what a role lacks or has too much is refused with a code of its own", async () => {
    const holder = { personId: await colleague() };
    const [schoolIds, endsAt] = [[school], "2026-02-04T08:00:00Z"];
    const refusals: [object, number, string][] = [
      [{ role: "SECRETARY" }, 400, "role_scope_refused"],
      [{ role: "SCHOOL_ADMIN" }, 400, "role_scope_refused"],
      [{ role: "OPERATOR", schoolIds }, 400, "role_scope_refused"],
      [{ role: "PARTNER" }, 400, "role_scope_refused"],
      [{ role: "PARTNER", clientIds: [app], schoolIds }, 400, "role_scope_refused"],
      [{ role: "SECRETARY", clientIds: [app], schoolIds }, 400, "role_scope_refused"],
      [{ role: "SUPPORT", schoolIds, reason: "x", endsAt: "2026-02-17T08:00:00.001Z" }, 400, "role_too_long"],
      [{ role: "SUPPORT", schoolIds, reason: "Ticket 17" }, 400, "role_end_required"],
      [{ role: "SUPPORT", schoolIds, endsAt }, 400, "role_reason_required"],
      [{ role: "SECRETARY", schoolIds, endsAt: "2026-02-03T08:00:00Z" }, 400, "role_end_past"],
      [{ role: "SECRETARY", schoolIds, reason: " " }, 400, "text_empty"],
      [{ role: "JANITOR", schoolIds }, 400, "invalid_request"],
      [{ ...secretaryOf(missing) }, 404, "person_not_found"],
      [{ role: "OPERATOR", holder: { clientId: "none" } }, 404, "app_not_found"],
      [{ role: "PARTNER", clientIds: ["none"] }, 404, "app_not_found"],
      [{ role: "SECRETARY", schoolIds: [missing] }, 404, "school_not_found"],
    ];
    for (const [body, status, refused] of refusals)
      expect(refusalOf(await give(operator, { holder, ...body })), JSON.stringify(body)).toEqual([status, refused]);
    const { role } = secretaryOf("");
    await given(operator, { holder, role, schoolIds });
    expect(refusalOf(await give(operator, { holder, role, schoolIds }))).toEqual([409, "staff_role_exists"]);
  });

  test("nobody gives more than they have, and what they do not reach does not exist for them", async () => {
    const [own, foreign] = [await colleague(), await colleague(other)];
    const holder = { personId: own };
    const support = { reason: "Ticket 17", endsAt: "2026-02-04T08:00:00Z" };
    const refusals: [object, number, string][] = [
      [{ holder, role: "OPERATOR" }, 403, "role_beyond_own"],
      [{ holder, role: "DISTRICT", schoolIds: [school] }, 403, "role_beyond_own"],
      [{ holder, role: "SUPPORT", schoolIds: [school], ...support }, 403, "role_beyond_own"],
      [{ holder, role: "PARTNER", clientIds: [app] }, 403, "role_beyond_own"],
      [secretaryOf(own, [other]), 404, "school_not_found"],
      [secretaryOf(own, [school, other]), 404, "school_not_found"],
      [secretaryOf(foreign), 404, "person_not_found"],
    ];
    for (const [body, status, refused] of refusals)
      expect(refusalOf(await give(admin, body)), JSON.stringify(body)).toEqual([status, refused]);
    expect(without(await give(admin, secretaryOf(foreign)))).toEqual(without(await give(admin, secretaryOf(missing))));
    expect(await linesAbout(own)).toEqual([]);
  });
});

describe("withdrawing", () => {
  test("a role that is withdrawn is gone at once, for a token that was issued before", async () => {
    const { app: clerk, call } = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
    const [role] = (await admin("GET", `/staff-roles?app=${clerk.clientId}`)).body as { id: string }[];
    expect((await call("GET", "/schools")).status).toBe(200);
    expect((await admin("DELETE", `/staff-roles/${role!.id}`)).status).toBe(204);
    expect(refusalOf(await call("GET", "/schools"))).toEqual([403, "role_forbids"]);
    expect(refusalOf(await admin("DELETE", `/staff-roles/${role!.id}`))).toEqual([404, "staff_role_not_found"]);
  });

  test("what was withdrawn stands in the audit with what it was", async () => {
    const personId = await colleague();
    const made = await given(operator, secretaryOf(personId, [school, other]));
    expect(refusalOf(await admin("DELETE", `/staff-roles/${made.id}`))).toEqual([403, "role_beyond_own"]);
    expect((await operator("DELETE", `/staff-roles/${made.id}`)).status).toBe(204);
    expect((await linesAbout(personId)).slice(2)).toMatchObject(
      [school, other].map(() => ({ action: "staff_role_withdrawn", actorRole: "OPERATOR", before: made, after: null })),
    );
  });

  test("a role above the own one is not withdrawn", async () => {
    const district = await given(operator, {
      holder: { personId: await colleague() },
      role: "DISTRICT",
      schoolIds: [school],
    });
    expect(refusalOf(await admin("DELETE", `/staff-roles/${district.id}`))).toEqual([403, "role_beyond_own"]);
  });
});

describe("listing", () => {
  test("the list has the roles at the caller's schools, with these schools only, and for an operator all", async () => {
    const personId = await colleague();
    const both = await given(operator, secretaryOf(personId, [school, other]));
    const foreign = await given(operator, secretaryOf(await colleague(other), [other]));
    const seen = (await admin("GET", "/staff-roles")).body as { id: string; schoolIds: string[] }[];
    expect(seen.find(({ id }) => id === both.id)?.schoolIds).toEqual([school]);
    expect(seen.every(({ schoolIds }) => schoolIds.join() === school)).toBe(true);
    expect(idsOf(await operator("GET", "/staff-roles"))).toEqual(expect.arrayContaining([both.id, foreign.id]));
  });

  test("filters narrow, and name what the caller does not reach as unknown", async () => {
    const personId = await colleague();
    const made = await given(admin, secretaryOf(personId));
    const filters = [`person=${personId}`, `person=${personId}&role=SECRETARY`, `person=${personId}&school=${school}`];
    for (const filter of filters) expect(idsOf(await admin("GET", `/staff-roles?${filter}`))).toEqual([made.id]);
    expect((await admin("GET", `/staff-roles?person=${personId}&role=DISTRICT`)).body).toEqual([]);
    await makeStaff(service, "PARTNER", { clientIds: [app] });
    expect((await operator("GET", `/staff-roles?app=${app}`)).body).toMatchObject([
      { role: "PARTNER", clientIds: [app] },
    ]);
    const refusals: [string, string][] = [
      [`school=${other}`, "school_not_found"],
      [`person=${await colleague(other)}`, "person_not_found"],
      ["app=none", "app_not_found"],
    ];
    for (const [filter, refused] of refusals)
      expect(refusalOf(await admin("GET", `/staff-roles?${filter}`))).toEqual([404, refused]);
  });

  test("pages follow each other, and a role that has ended is left out", async () => {
    const there = await make.school();
    const people = [await colleague(there), await colleague(there), await colleague(there)];
    for (const personId of people) {
      service.clock.forwardSeconds(1);
      await given(operator, { ...secretaryOf(personId, [there]), endsAt: "2026-02-03T10:00:00Z" });
    }
    const pages = await readPages(operator, `/staff-roles?school=${there}&limit=2`);
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(pages.flat()).toMatchObject([...people].reverse().map((personId) => ({ holder: { personId } })));
    service.clock.forwardSeconds(3 * 3600);
    const later = makeAdminClient(service, await issueAppToken(service, adminApp, ["admin:read"]));
    expect((await later("GET", `/staff-roles?school=${school}`)).status).toBe(200);
    const { call } = await makeStaff(service, "OPERATOR");
    expect((await call("GET", `/staff-roles?school=${there}`)).body).toEqual([]);
  });
});
