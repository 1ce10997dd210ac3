import { expect, test } from "vitest";
import { makeStaff, readPages, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { json, startSource, type Answer } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

// One connection of several schools: the schools' people come in one roster.

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { db } = service;
const make = makeMakers(db);

type Run = {
  outcome: string;
  failure: string;
  detail: string | null;
  importId: string;
  counts: Record<string, number>;
};

let schools = 0;
async function makeDistrict(count: number, body: object = {}) {
  const officialIds = Array.from({ length: count }, () => `DE-DISTRICT-${++schools}`);
  const ids = [];
  for (const officialId of officialIds) ids.push(await make.school({ officialId }));
  const { call } = await makeStaff(service, "DISTRICT", { schoolIds: ids });
  const source = await startSource();
  const given = { kind: "SCHULCONNEX", address: `${source.address}/personen-info`, secret: "hush" };
  const sent = await call("POST", "/roster-connections", {
    body: { name: "District", schoolIds: ids, applies: "UNLESS_HELD", ...given, ...body },
  });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  const { id } = sent.body as { id: string };
  const runs = `/roster-connections/${id}/runs`;
  return { officialIds, ids, call, source, runs };
}

/** `pupils`: the numbers of those at each school, by its official id. */
const infoOf = (pupils: Record<string, number[]>): Answer =>
  json(
    Object.entries(pupils).flatMap(([kennung, numbers]) =>
      numbers.map((number) => ({
        pid: `p-${number}`,
        person: { name: { vorname: "Mia", familienname: `Albrecht${number}` }, stammorganisation: { kennung } },
        personenkontexte: [{ id: `k-${number}`, organisation: { kennung, typ: "Schule" }, rolle: "Lern" }],
      })),
    ),
  );
const numbersFrom = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);
const countAt = (school: string) => db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } });
const countEach = (ids: string[]) => Promise.all(ids.map(countAt));
const runNow = async (call: AdminClient, runs: string) => (await call("POST", runs)).body as Run;

test("of a district, one school is held, one changes, one does not and a strange one is left out; the import shows each", async () => {
  const { officialIds, ids, call, source, runs } = await makeDistrict(3);
  const [a = "", b = "", c = ""] = officialIds;
  const strange = await make.school({ officialId: "DE-STRANGE" });
  await make.person({ school: strange });
  const [ofA, ofB, ofC] = [numbersFrom(100, 9), numbersFrom(200, 9), numbersFrom(300, 9)];
  source.answers["/personen-info"] = infoOf({ [a]: ofA, [b]: ofB, [c]: ofC, "DE-STRANGE": numbersFrom(400, 3) });
  expect(await runNow(call, runs)).toMatchObject({ outcome: "APPLIED", counts: { peopleCreated: 27 } });
  expect(await countEach([...ids, strange])).toEqual([9, 9, 9, 1]);

  source.answers["/personen-info"] = infoOf({
    [a]: [...ofA, 110],
    [b]: ofB.slice(0, 4),
    [c]: ofC,
    "DE-STRANGE": [401],
  });
  const held = await runNow(call, runs);
  expect(held).toMatchObject({ outcome: "HELD", counts: { peopleCreated: 1, leavers: 5 } });
  expect(await countEach([...ids, strange])).toEqual([9, 9, 9, 1]);
  const shown = (await call("GET", `/imports/${held.importId}`)).body as { state: string; schools: { id: string }[] };
  expect(shown).toMatchObject({
    state: "HELD",
    schools: [
      { id: ids[0], state: "READY", people: { created: 1 } },
      { id: ids[1], state: "HELD", people: { removed: 5 }, holds: [{ reason: "LEAVERS", count: 5 }] },
      { id: ids[2], state: "READY", people: { created: 0, removed: 0 } },
    ],
  });
  const body = { confirmLeavers: 5 };
  expect((await call("POST", `/imports/${held.importId}/application`, { body })).status).toBe(200);
  expect(await countEach([...ids, strange])).toEqual([10, 4, 9, 1]);
  const changed = await db.prisma.audit.findMany({ where: { action: "import_applied" }, orderBy: { id: "asc" } });
  expect(changed.slice(-2).map(({ schoolId }) => schoolId)).toEqual(ids.slice(0, 2));
  const history = (await readPages<Run>(call, `${runs}?limit=1`)).flat();
  expect(history.map(({ outcome }) => outcome)).toEqual(["HELD", "APPLIED"]);
});

test("somebody who changes schools in a district keeps the account, and a roster without one of the schools is half of it", async () => {
  const { officialIds, ids, call, source, runs } = await makeDistrict(2);
  const [a = "", b = ""] = officialIds;
  const [ofA, ofB] = [numbersFrom(500, 9), numbersFrom(600, 9)];
  source.answers["/personen-info"] = infoOf({ [a]: ofA, [b]: ofB });
  expect(await runNow(call, runs)).toMatchObject({ outcome: "APPLIED" });
  const [moved] = await db.prisma.person.findMany({ where: { sourceSystemIdentifier: "p-500" } });
  source.answers["/personen-info"] = infoOf({ [a]: ofA.slice(1), [b]: [...ofB, 500] });
  expect(await runNow(call, runs)).toMatchObject({ outcome: "APPLIED" });
  expect(await db.prisma.person.findUnique({ where: { id: moved!.id } })).toMatchObject({ homeSchoolId: ids[1] });
  source.answers["/personen-info"] = infoOf({ [a]: ofA.slice(1) });
  expect(await runNow(call, runs)).toMatchObject({
    failure: "HALF",
    detail: "1 of 2 schools are missing",
    importId: null,
  });
  expect(await countEach(ids)).toEqual([8, 10]);
});
