import { expect, test } from "vitest";
import { makeStaff, refusalOf } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { csvOf, pupilsOf, startSource, text } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

// What becomes of connections when schools and people change.

type Run = { outcome: string; failure: string };

test("a merged or deleted school takes its connections with it, and those of other schools stay", async () => {
  const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  const { db } = service;
  const make = makeMakers(db);
  const [from, into, third] = [await make.school(), await make.school(), await make.school()];
  const { call } = await makeStaff(service, "DISTRICT", { schoolIds: [from, into, third] });
  const connect = async (schoolIds: string[]) => {
    const body = { name: "F", kind: "HTTPS_FILE", schoolIds, address: "http://127.0.0.1:9/r" };
    return ((await call("POST", "/roster-connections", { body })).body as { id: string }).id;
  };
  const [alone, both, ofThird] = [await connect([from]), await connect([from, into]), await connect([third])];
  const merger = await call("POST", `/schools/${from}/mergers`, { body: { intoSchoolId: into } });
  expect(merger.status).toBe(201);
  const gone = [404, "roster_connection_not_found"];
  expect(refusalOf(await call("GET", `/roster-connections/${alone}`))).toEqual(gone);
  expect((await call("GET", `/roster-connections/${both}`)).body).toMatchObject({ schoolIds: [into] });
  // An undo brings the school back without them.
  expect((await call("DELETE", `/schools/${into}/mergers/${(merger.body as { id: string }).id}`)).status).toBe(200);
  expect((await call("GET", `/roster-connections?school=${from}`)).body).toEqual([]);
  await db.prisma.school.delete({ where: { id: third } });
  expect(await db.prisma.rosterConnection.findUnique({ where: { id: ofThird } })).toBeNull();
});

test("the history of runs names nobody, whatever a roster has in it", async () => {
  const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  const { db } = service;
  const school = await makeMakers(db).school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const source = await startSource();
  const body = { name: "F", kind: "HTTPS_FILE", schoolIds: [school], address: `${source.address}/r` };
  const { id } = (await call("POST", "/roster-connections", { body: { ...body, applies: "UNLESS_HELD" } })).body as {
    id: string;
  };
  const table = csvOf(pupilsOf(6));
  const contents: [string, string][] = [
    [table, "APPLIED"],
    [`${table}\np-9;NOBODY;Vorname;Nachname;5a`, "FAULTS"],
    [table.replaceAll("Nachname", "Anders"), "APPLIED"],
    [`Nachname17;Vorname17\nx;y`, "COLUMNS_UNKNOWN"],
    [`[{"pid":"Nachname9","person":Vorname`, "HALF"],
    [`[{"pid":"p-1","person":"Nachname"}]`, "HELD"],
  ];
  const ended: string[] = [];
  for (const [content] of contents) {
    source.answers["/r"] = text(content);
    const { outcome, failure } = (await call("POST", `/roster-connections/${id}/runs`)).body as Run;
    ended.push(outcome === "FAILED" ? failure : outcome);
  }
  expect(ended).toEqual(contents.map(([, expected]) => expected));
  const rows = await db.prisma.rosterRun.findMany({ where: { connectionId: id } });
  const shown = await call("GET", `/roster-connections/${id}/runs`);
  for (const kept of [rows, shown.body]) expect(JSON.stringify(kept)).not.toMatch(/Vorname|Nachname|Anders|p-\d/);
});
