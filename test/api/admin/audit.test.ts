import { describe, expect, test } from "vitest";
import { forgetInAudit, recordAudit, type AuditLine } from "../../../src/events/index.ts";
import { makeStaff, type AdminClient, refusalOf, readPages } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

type Line = { id: string; at: string; action: string; personId: string | null; clientId: string | null };

const minute = (n: number) => new Date(Date.UTC(2026, 0, 5, 8, n));
/** Minutes after the time whose lines the tests count. */
const later = 2 * 24 * 60;
const record = (n: number, line: Omit<AuditLine, "at">) => recordAudit(service.db, { at: minute(n), ...line });

const [school, other] = [await make.school(), await make.school()];
const [person, foreign] = [await make.person({ school }), await make.person({ school: other })];
const [app, foreignApp] = [(await make.app()).clientId, (await make.app()).clientId];
const operator = (await makeStaff(service, "OPERATOR")).call;
const made = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const [admin, adminId] = [made.call, made.app.clientId];
const partner = (await makeStaff(service, "PARTNER", { clientIds: [app] })).call;
const staff = { actorId: `person:${foreign}`, actorRole: "OPERATOR", requestId: "r" };
await record(1, { action: "person_updated", schoolId: school, personId: person, ...staff });
await record(2, { action: "person_updated", schoolId: other, personId: foreign, ...staff });
await record(3, {
  action: "person_updated",
  clientId: app,
  personId: person,
  detail: { whom: person, reason: "blocked" },
});
await record(4, { action: "person_updated", clientId: app, ...staff });
await record(5, { action: "person_updated", clientId: foreignApp, schoolId: school, actorId: "purge" });
await record(6, { action: "person_updated", detail: { values: 3 } });

const read = async (call: AdminClient, query = ""): Promise<Line[]> => {
  const { status, body } = await call("GET", `/audit?until=2026-01-06T00%3A00%3A00Z&${query}`);
  expect(status).toBe(200);
  return body as Line[];
};
const minutesOf = (lines: Line[]) => lines.map(({ at }) => new Date(at).getUTCMinutes());

describe("who reads what", () => {
  test("an operator reads all lines, the newest first", async () => {
    expect(minutesOf(await read(operator))).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test("a school reads the lines about itself, with who did it and to whom", async () => {
    const lines = await read(admin);
    expect(minutesOf(lines)).toEqual([5, 1]);
    const nobody = { personId: null, clientId: null, program: null };
    expect(lines).toMatchObject([
      { clientId: foreignApp, schoolId: school, actor: { ...nobody, program: "purge", role: "NONE" } },
      {
        personId: person,
        schoolId: school,
        requestId: "r",
        before: null,
        after: null,
        detail: {},
        actor: { ...nobody, personId: foreign, role: "OPERATOR" },
      },
    ]);
    const { names } = lines[1] as unknown as { names: Record<string, { last: string } | null> };
    expect([names["actor"]?.last, names["person"]?.last].every((last) => (last ?? "") !== "")).toBe(true);
  });

  test("a person who has left the school is not named there", async () => {
    const left = await make.person({ school: other });
    await record(later, { action: "person_restored", schoolId: school, personId: left, actorId: "purge" });
    const { body } = await admin("GET", "/audit?action=person_restored");
    expect(body).toMatchObject([{ personId: left, names: { actor: null, person: null } }]);
  });

  test("a partner reads the lines about their apps, and no id of a person", async () => {
    const { body } = await partner("GET", "/audit");
    const lines = body as Line[];
    expect(lines.every(({ clientId }) => clientId === app)).toBe(true);
    expect(minutesOf(await read(partner))).toEqual([4, 3]);
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${person}|${foreign}`));
    expect(await read(partner)).toMatchObject([
      { actor: { personId: null, program: null, role: "OPERATOR" } },
      { personId: null, detail: { reason: "blocked" }, names: { actor: null, person: null } },
    ]);
  });

  test("a partner is given no difference of what was done to a person, and that of what was done to the app", async () => {
    const personId = await make.person({ school });
    const app = (await make.app()).clientId;
    const partner = (await makeStaff(service, "PARTNER", { clientIds: [app] })).call;
    const role = { holder: { personId }, role: "PARTNER", clientIds: [app] };
    expect((await operator("POST", "/staff-roles", { body: role })).status).toBe(201);
    const automatic = { holder: { clientId: app }, role: "PARTNER", clientIds: [app] };
    expect((await operator("POST", "/staff-roles", { body: automatic })).status).toBe(201);
    const query = "/audit?action=staff_role_given&from=2026-02-03T00%3A00%3A00Z";
    const lines = (await partner("GET", query)).body as { after: object | null }[];
    expect(lines.map(({ after }) => after).filter((after) => after !== null)).toMatchObject([automatic]);
    expect(JSON.stringify(lines)).not.toContain(personId);
    expect(JSON.stringify((await operator("GET", query)).body)).toContain(personId);
  });

  test("who is both reads people in lines of the school only, and chooses by person among these", async () => {
    const both = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
    const role = { holder: { clientId: both.app.clientId }, role: "PARTNER", clientIds: [app] };
    await operator("POST", "/staff-roles", { body: role });
    const lines = await read(both.call);
    expect(lines.map(({ at, personId }) => [new Date(at).getUTCMinutes(), personId])).toEqual([
      ...[5, 4, 3].map((n) => [n, null]),
      [1, person],
    ]);
    expect(minutesOf(await read(both.call, `person=${person}`))).toEqual([1]);
  });

  test("what the API did is named with the app that did it", async () => {
    const personId = await make.person({ school });
    const role = { holder: { personId }, role: "SECRETARY", schoolIds: [school] };
    expect((await admin("POST", "/staff-roles", { body: role })).status).toBe(201);
    const { body } = await admin("GET", `/audit?person=${personId}&action=staff_role_given`);
    expect(body).toMatchObject([
      { actor: { clientId: adminId, personId: null, program: null, role: "SCHOOL_ADMIN" }, after: role },
    ]);
  });

  test("what a person did is read by operators, by schools about themselves, and by no partner", async () => {
    expect(minutesOf(await read(operator, `actor=${foreign}`))).toEqual([4, 2, 1]);
    expect(minutesOf(await read(admin, `actor=${foreign}`))).toEqual([1]);
    expect(minutesOf(await read(partner, `actor=${foreign}`))).toEqual([]);
    expect(minutesOf(await read(operator, `actor=${person}`))).toEqual([]);
  });

  test("a person who was deleted for good is nobody", async () => {
    const gone = await make.person({ school });
    await record(later, {
      action: "person_blocked",
      schoolId: school,
      personId: gone,
      actorId: `person:${gone}`,
      actorRole: "SECRETARY",
    });
    await forgetInAudit(service.db, gone);
    expect((await admin("GET", "/audit?action=person_blocked")).body).toMatchObject([
      { personId: null, actor: { personId: null, clientId: null, program: null, role: "SECRETARY" } },
    ]);
  });
});

describe("choosing", () => {
  test("filters narrow", async () => {
    expect(minutesOf(await read(operator, `school=${school}&action=person_updated`))).toEqual([5, 1]);
    expect(minutesOf(await read(operator, `person=${person}&action=person_updated`))).toEqual([3, 1]);
    expect(minutesOf(await read(operator, `app=${app}`))).toEqual([4, 3]);
    expect(minutesOf(await read(operator, `app=${foreignApp}&school=${school}`))).toEqual([5]);
    expect(await read(operator, "action=never_done")).toEqual([]);
    const between = "/audit?from=2026-01-05T08%3A02%3A00Z&until=2026-01-05T08%3A04%3A00Z";
    expect(minutesOf((await operator("GET", between)).body as Line[])).toEqual([3, 2]);
  });

  test("what the caller does not reach is unknown", async () => {
    const refusals: [AdminClient, string, string][] = [
      [admin, `school=${other}`, "school_not_found"],
      [admin, `person=${foreign}`, "person_not_found"],
      [admin, "app=none", "app_not_found"],
      [partner, `app=${foreignApp}`, "app_not_found"],
      [partner, `person=${person}`, "person_not_found"],
      [partner, `school=${school}`, "school_not_found"],
      [operator, "school=019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10", "school_not_found"],
    ];
    for (const [call, query, refused] of refusals)
      expect(refusalOf(await call("GET", `/audit?${query}`)), query).toEqual([404, refused]);
    expect(refusalOf(await operator("GET", "/audit?from=yesterday"))).toEqual([400, "invalid_request"]);
    expect(refusalOf(await operator("GET", "/audit?cursor=abc"))).toEqual([400, "invalid_cursor"]);
  });

  test("pages follow each other without a gap, also among lines of the same time", async () => {
    for (let n = 0; n < 5; n++) await record(later, { action: "group_renamed", schoolId: other, detail: { n } });
    const pages = await readPages<Line>(operator, "/audit?action=group_renamed&limit=2");
    const ids = pages.flat().map(({ id }) => id);
    expect([pages.length, new Set(ids).size, ids.length]).toEqual([3, 5, 5]);
  });
});
