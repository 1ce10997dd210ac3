import { expect, test } from "vitest";
import { makeStaff, refusalOf, readPages } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const { db } = service;
const make = makeMakers(db);

const school = await make.school();
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
const foreign = (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [await make.school()] })).call;

type Import = { id: string; state: string; undoUntil: string | null; undoneAt: string | null };
type Entry = { id: string; kind: string; personName: { last: string } | null; groupName: string | null } & {
  step: string;
  reasons: string[];
  changedAt: string | null;
} & Record<"classesNow" | "classesThen", string[]>;

const headers = { "content-type": "application/octet-stream" };
async function applyRows(...rows: string[]): Promise<Import> {
  const body = Buffer.from(["id;role;first_name;last_name;classes", ...rows, ""].join("\n"));
  const made = (await office("POST", `/imports?school=${school}`, { body, headers })).body as Import & {
    leavers: number;
  };
  clock.forwardSeconds(60);
  const confirm = { body: { confirmLeavers: made.leavers } };
  return (await office("POST", `/imports/${made.id}/application`, confirm)).body as Import;
}

test("an import is previewed, listed and undone as far as nobody changed anything since", async () => {
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school });
  await applyRows("1;student;Ada;Muster;5a", "2;student;Bo;Bei;5a", "3;student;Cem;Chor;5a");
  const applied = await applyRows("1;student;Ada;Muster;6a", "2;student;Bo;Bei;6a", "4;student;Di;Dur;6a");
  expect(applied).toMatchObject({ state: "APPLIED", undoneAt: null, undoUntil: expect.any(String) });
  const { id } = applied;
  const bo = await db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last: "Bei" } });
  const six = await db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name: "6a" } });
  const other = await make.group({ school, name: "6b" });
  await office("DELETE", `/groups/${six.id}/members/${bo.id}`);
  await office("PUT", `/groups/${other}/members/${bo.id}`, { body: {} });

  const preview = await support("GET", `/imports/${id}/undo`);
  expectDescribed("previewImportUndo", preview);
  expect(preview.body).toMatchObject({
    people: { restored: 1, removed: 1, changed: 1 },
    groups: { restored: 1, removed: 1, changed: 0 },
    memberships: { restored: 2, removed: 1 },
    kept: { people: 1, groups: 0 },
    deletedForGood: 0,
    viewChanges: [{ clientId, people: { enter: 1, leave: 1 } }],
  });
  expect(await db.prisma.person.count({ where: { homeSchoolId: school, status: "ACTIVE" } })).toBe(3);

  const kept = await support("GET", `/imports/${id}/undo/entries?kept=true&school=${school}`);
  expectDescribed("listImportUndoEntries", kept);
  expect(kept.body).toEqual([
    expect.objectContaining({
      kind: "PERSON",
      id: bo.id,
      reasons: ["GROUPS"],
      classesNow: ["6b"],
      classesThen: ["5a"],
    }),
  ]);
  expect((kept.body as Entry[])[0]!.changedAt).not.toBeNull();
  const all = (await readPages<Entry>(office, `/imports/${id}/undo/entries?limit=3`)).flat();
  expect(all.map(({ groupName, personName, step }) => [groupName ?? personName!.last, step])).toEqual([
    ["5a", "RESTORED"],
    ["6a", "REMOVED"],
    ["Chor", "RESTORED"],
    ["Dur", "REMOVED"],
    ["Muster", "CHANGED"],
  ]);

  expect(refusalOf(await support("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await foreign("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([404, "import_not_found"]);
  const unconfirmed = await office("POST", `/imports/${id}/undo`, { body: {} });
  expectDescribed("undoImport", unconfirmed);
  expect(refusalOf(unconfirmed)).toEqual([409, "undo_not_confirmed"]);
  const undone = await office("POST", `/imports/${id}/undo`, { body: { confirmKept: 1 } });
  expectDescribed("undoImport", undone);
  expect(undone).toMatchObject({
    status: 200,
    body: { state: "UNDONE", undoUntil: null, undoneAt: expect.any(String) },
  });
  const lines = await db.prisma.audit.findMany({ where: { action: "import_undone", schoolId: school } });
  expect(lines).toMatchObject([{ actorRole: "SECRETARY", detail: { importId: id, kept: { people: 1, groups: 0 } } }]);
  const history = (await office("GET", `/people/${bo.id}/imports`)).body as { change: string }[];
  expect(history.map(({ change }) => change)).not.toContain("UNDONE");
  const ada = await db.prisma.person.findFirstOrThrow({ where: { homeSchoolId: school, last: "Muster" } });
  // All at one time of the test's clock, so in any order.
  const ofAda = (await office("GET", `/people/${ada.id}/imports`)).body as { change: string }[];
  expect(ofAda.toSorted((a, b) => a.change.localeCompare(b.change))).toMatchObject([
    { change: "CLASSES" },
    { change: "CREATED" },
    { change: "UNDONE", classesBefore: ["6a"], classesAfter: ["5a"] },
  ]);
  for (const path of [`/imports/${id}/undo`, `/imports/${id}/undo/entries`])
    expect(refusalOf(await office("GET", path))).toEqual([409, "import_undone"]);
  expect(refusalOf(await office("POST", `/imports/${id}/undo`, { body: {} }))).toEqual([409, "import_undone"]);
  expect(refusalOf(await office("POST", `/imports/${id}/application`, { body: {} }))).toEqual([409, "import_undone"]);
});
