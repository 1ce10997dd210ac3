import { describe, expect, test } from "vitest";
import { makeStaff, refusalOf, nextPage } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);

const [school, other] = [await make.school({ name: "Goethe-Schule" }), await make.school({ name: "Schiller-Schule" })];
const operator = (await makeStaff(service, "OPERATOR")).call;
const admin = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;

const newSchool = (officialId: string) => ({
  name: "Lessing-Kolleg",
  officialId,
  address: { address: "Am Markt 1", city: "Kamenz", zipCode: "01917" },
  location: { country: "DE", state: "SN" },
});

describe("reading", () => {
  test("a school is read by those who work there", async () => {
    const read = await admin("GET", `/schools/${school}`);
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({ id: school, name: "Goethe-Schule" });
    expect(read.headers.get("etag")).toMatch(/^".+"$/);
  });

  test("the list has the schools that a role is for, and for an operator all, page by page", async () => {
    expect((await admin("GET", "/schools")).body).toMatchObject([{ id: school }]);
    const first = await operator("GET", "/schools?limit=1&search=schule");
    expect(first.body).toMatchObject([{ id: school }]);
    const second = await operator("GET", nextPage(first)!);
    expect(second.body).toMatchObject([{ id: other }]);
    expect(refusalOf(await operator("GET", "/schools?cursor=abc"))).toEqual([400, "invalid_cursor"]);
  });
});

describe("registering", () => {
  test("an operator registers a school", async () => {
    const made = await operator("POST", "/schools", { body: newSchool("14-001") });
    expect(made.status).toBe(201);
    const { id } = made.body as { id: string };
    expect(made.headers.get("location")).toBe(`/admin/v1/schools/${id}`);
    const read = await operator("GET", `/schools/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.get("etag")).toBe(made.headers.get("etag"));
    expect(refusalOf(await operator("POST", "/schools", { body: newSchool("14-001") }))).toEqual([
      409,
      "official_id_taken",
    ]);
  });

  test("a postal code has five digits in Germany, and any form elsewhere; an old one stays until it is changed", async () => {
    const register = (number: string, zipCode: string, location: { country: string; state: string }) =>
      operator("POST", "/schools", {
        body: { ...newSchool(number), address: { ...newSchool(number).address, zipCode }, location },
      });
    const saxony = { country: "DE", state: "SN" };
    for (const wrong of ["1917", "019171", "0191A", "D-01917", "٠١٩١٧"])
      expect(refusalOf(await register("14-010", wrong, saxony)), wrong).toEqual([400, "zip_code_malformed"]);
    const tyrol = await register("14-011", "6020", { country: "AT", state: "7" });
    expect(tyrol.status).toBe(201);
    const change = (id: string, body: object) =>
      operator("PATCH", `/schools/${id}`, { body, headers: { "if-match": "*" } });
    const { id } = tyrol.body as { id: string };
    expect(refusalOf(await change(id, { location: saxony }))).toEqual([400, "zip_code_malformed"]);
    await service.db.prisma.school.update({ where: { id }, data: { country: "DE" } });
    expect((await change(id, { name: "Anderer Name" })).status).toBe(204);
    expect(refusalOf(await change(id, { address: { zipCode: "6021" } }))).toEqual([400, "zip_code_malformed"]);
    expect((await change(id, { address: { zipCode: "06021" } })).status).toBe(204);
  });

  test("the same request again gets the first answer and makes nothing", async () => {
    const given = { body: newSchool("14-003"), headers: { "Idempotency-Key": "lessing" } };
    const [first, again] = [await operator("POST", "/schools", given), await operator("POST", "/schools", given)];
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(await service.db.prisma.school.count({ where: { officialId: "14-003" } })).toBe(1);
    const another = { ...given, body: newSchool("14-004") };
    expect(refusalOf(await operator("POST", "/schools", another))).toEqual([422, "idempotency_key_reused"]);
  });

  test("of twenty equal requests at the same time one makes something, and all get its answer", async () => {
    const given = { body: newSchool("14-005"), headers: { "Idempotency-Key": "at once" } };
    const answers = await Promise.all(Array.from({ length: 20 }, () => operator("POST", "/schools", given)));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await service.db.prisma.school.count({ where: { officialId: "14-005" } })).toBe(1);
  });

  test("a key is the caller's own", async () => {
    const { call } = await makeStaff(service, "OPERATOR");
    const headers = { "Idempotency-Key": "mine" };
    expect((await operator("POST", "/schools", { body: newSchool("14-006"), headers })).status).toBe(201);
    expect((await call("POST", "/schools", { body: newSchool("14-007"), headers })).status).toBe(201);
  });

  test("kept answers are encrypted and go after a day", async () => {
    const headers = { "Idempotency-Key": "kept" };
    await operator("POST", "/schools", { body: newSchool("14-008"), headers });
    const [kept] = await service.db.prisma.idempotencyKey.findMany({ take: 1 });
    expect(Buffer.from(kept!.answer).includes("Lessing")).toBe(false);
    const sweep = () => service.runJob("admin.sweepIdempotencyKeys");
    await sweep();
    expect(await service.db.prisma.idempotencyKey.count()).toBeGreaterThan(0);
    await service.db.prisma.idempotencyKey.updateMany({ data: { createdAt: new Date("2026-02-02T07:59:00Z") } });
    await sweep();
    expect(await service.db.prisma.idempotencyKey.count()).toBe(0);
  });
});

describe("changing", async () => {
  const school = await make.school({ name: "Goethe-Kolleg" });
  const admin = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call;

  test("an admin changes their school; the audit says who, in which role, and what", async () => {
    const changed = await admin("PATCH", `/schools/${school}`, { body: { address: { city: "Weimar" } } });
    expect([changed.status, changed.body]).toEqual([204, null]);
    const read = await admin("GET", `/schools/${school}`);
    expect(read.body).toMatchObject({ address: { city: "Weimar" } });
    expect(changed.headers.get("etag")).toBe(read.headers.get("etag"));
    const requestId = changed.headers.get("x-request-id");
    const line = await service.db.prisma.audit.findFirst({ where: { requestId, action: "school_updated" } });
    expect(line).toMatchObject({ schoolId: school, actorRole: "SCHOOL_ADMIN", after: { address: { city: "Weimar" } } });
    expect(line!.actorId).toMatch(/^app:/);
  });

  test("a change from an earlier state does nothing and shows the record as it is", async () => {
    const before = (await admin("GET", `/schools/${school}`)).headers.get("etag")!;
    await admin("PATCH", `/schools/${school}`, {
      body: { name: `${before}-Gymnasium` },
      headers: { "If-Match": before },
    });
    const late = await admin("PATCH", `/schools/${school}`, { body: { name: "X" }, headers: { "If-Match": before } });
    expect(refusalOf(late)).toEqual([412, "precondition_failed"]);
    expect((late.body as { current: object }).current).toEqual((await admin("GET", `/schools/${school}`)).body);
  });

  test("of ten changes from the same state one is made", async () => {
    const tag = (await admin("GET", `/schools/${school}`)).headers.get("etag")!;
    const change = (n: number) =>
      admin("PATCH", `/schools/${school}`, { body: { name: `Goethe ${n}` }, headers: { "If-Match": tag } });
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) => change(n)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 9 }, () => 412)]);
  });

  test("a dry run says which app would see what, and changes nothing", async () => {
    const app = await make.app({ name: "Lernapp" });
    await make.school({ officialId: "14-009" });
    await make.grant({ app: app.clientId, school: school, sync: true });
    const before = (await admin("GET", `/schools/${school}`)).body;
    const { audit, appEvent } = service.db.prisma;
    const counts = async () => [await audit.count(), await appEvent.count()];
    const recorded = await counts();
    const looked = await admin("PATCH", `/schools/${school}?dry-run=true`, { body: { name: "Kolleg" } });
    const none = { enter: 0, change: 0, leave: 0 };
    expect([looked.status, looked.body]).toEqual([
      200,
      [
        {
          clientId: app.clientId,
          appName: "Lernapp",
          people: none,
          groups: none,
          schools: { ...none, change: 1 },
          names: { enter: [], leave: [] },
          roles: expect.anything() as unknown,
        },
      ],
    ]);
    expect((await admin("GET", `/schools/${school}`)).body).toEqual(before);
    expect(await counts()).toEqual(recorded);
    const refused = await admin("PATCH", `/schools/${school}?dry-run=true`, { body: { officialId: "14-009" } });
    expect(refusalOf(refused)).toEqual([409, "official_id_taken"]);
  });
});

describe("who calls", () => {
  test("a caller without a role learns only that", async () => {
    const { app, call } = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
    expect((await call("GET", "/me")).body).toMatchObject({
      roles: [{ role: "SECRETARY" }],
      schools: [{ id: school }],
    });
    await service.db.prisma.staffRole.deleteMany({ where: { clientId: app.clientId } });
    expect((await call("GET", "/me")).body).toMatchObject({ roles: [], schools: [] });
    for (const path of ["/schools", `/schools/${school}`])
      expect(refusalOf(await call("GET", path))).toEqual([403, "role_forbids"]);
  });
});
