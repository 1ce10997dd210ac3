import { beforeEach, expect, test } from "vitest";
import {
  changeDirectory,
  recordFirstSignIn,
  setGrant,
  setSignOn,
  setSyncedGroups,
  sweepAnnounced,
  takeOverSignIn,
} from "../../src/access/index.ts";
import type { ClientId } from "../../src/access/index.ts";
import {
  deletePerson,
  softDeletePerson,
  updatePerson,
  type Change,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { interceptStatements } from "../support/intercept.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";

// First sign-ins do not wait for a change that is at work; whatever meets, an app is told of a person as if one came
// after the other.
const db = await testDatabase();
const make = makeMakers(db);
const now = new Date("2026-02-03T08:00:00Z");
const change = <T>(work: (it: Change) => Promise<T>): Promise<T> =>
  changeDirectory(db, { at: now, actorId: "test" }, work);
const name = { firstFull: "Kim", firstCall: "Kim", last: "Neu" };

let clientId: ClientId;
let school: SchoolId;
let person: PersonId;

/** An app that knows people by their sign-ins only. */
beforeEach(async () => {
  ({ clientId } = await make.app({ confirmsErasures: true }));
  school = await make.school();
  person = await make.person({ school });
  await make.grant({ app: clientId, school, sync: false });
});

// Not in the same millisecond: a sign-in waits for a period that begins then.
const later = new Date(now.getTime() + 1);
const signIn = (personId = person) => asOthers(() => recordFirstSignIn(db, { clientId, personId, at: later }));
/** As what the history says that the app can read the person from now on. */
const readable = async (): Promise<[isUser: boolean, isPerson: boolean][]> => {
  const rows = await db.prisma.disclosurePeriod.findMany({ where: { clientId, personId: person, until: null } });
  return rows.map(({ isUser, isPerson }) => [isUser, isPerson]);
};
const told = async (): Promise<[string, string[]][]> => {
  const { rows } = await db.pool.query<{ action: string; properties: string[] }>(
    `SELECT action, updated_properties AS properties FROM app_event WHERE client_id = $1 AND subject_id = $2 ORDER BY seq`,
    [clientId, person],
  );
  return rows.map(({ action, properties }) => [action, properties]);
};

type Case = { steps: (it: Change) => Promise<unknown>; told: [string, string[]][] };
const created: [string, string[]] = ["create", []];
const nameUpdated: [string, string[]] = ["update", ["name"]];
const rename = (it: Change) => updatePerson(it, { personId: person, name });
const softDelete = (it: Change, restoreWindowDays: number) =>
  softDeletePerson(it, { personId: person, restoreWindowDays });

/** Changes in the middle of which the person signs in, and what the app is told. */
const middles: Record<string, Case> = {
  "of nothing that an app sees": {
    steps: (it) => updatePerson(it, { personId: person, sourceSystemIdentifier: "src-1" }),
    told: [created],
  },
  "of the name": { steps: rename, told: [created, nameUpdated] },
  "of the whole school, touched after the person": { steps: (it) => it.touchSchool(school), told: [created] },
  "that deletes the person": { steps: (it) => softDelete(it, 30), told: [created, ["delete", ["status"]]] },
  "that deletes the person for good": {
    steps: async (it) => {
      await softDelete(it, 0);
      await deletePerson(it, { personId: person, forget: () => Promise.resolve() });
    },
    told: [created, ["delete", []]],
  },
};

test.each(Object.entries(middles))("within a change %s: one create, then what it alters", async (_what, middle) => {
  await change(async (it) => {
    await it.touch({ people: [person] });
    await signIn();
    await middle.steps(it);
  });
  expect(await told()).toEqual(middle.told);
});

test("within a change of the whole school: the same", async () => {
  const other = await make.person({ school });
  await change(async (it) => {
    await it.touchSchool(school);
    await signIn();
    await signIn(other);
    await rename(it);
  });
  expect(await told()).toEqual([created, nameUpdated]);
  const { rows } = await db.pool.query("SELECT action FROM app_event WHERE subject_id = $1", [other]);
  expect(rows).toEqual([{ action: "create" }]);
});

/** The database, where somebody signs in when a change has told apps what it did and has not yet kept others out. */
function signingInLate() {
  let isLate = true;
  return interceptStatements(db, async (text) => {
    if (text !== "SET CONSTRAINTS ALL IMMEDIATE" || !isLate) return;
    isLate = false;
    await signIn();
  });
}

test.each([
  ["a few people", (it: Change) => it.touch({ people: [person] })],
  ["a whole school", (it: Change) => it.touchSchool(school)],
])("after a change of %s has told what it did: what it alters is told after the create", async (_what, touch) => {
  await changeDirectory(signingInLate(), { at: now, actorId: "test" }, async (it) => {
    await touch(it);
    await rename(it);
  });
  expect(await told()).toEqual([created, nameUpdated]);
});

test("after a change that makes an app see the person has said so: one create, and what that adds", async () => {
  const group = await make.group({ school });
  await make.membership({ group, person });
  await changeDirectory(signingInLate(), { at: now, actorId: "test" }, (it) =>
    setGrant(it, { clientId, schoolId: school, signOn: { kind: "EVERYBODY" }, sync: true, syncedGroups: [group] }),
  );
  expect(await told()).toEqual([created, ["update", ["groups"]]]);
  expect(await readable()).toEqual([[true, true]]);
});

test("after a change that takes from an app whom it knew already has said so: they stay a user", async () => {
  const group = await make.group({ school });
  await make.membership({ group, person });
  await make.grant({ app: clientId, school, signOn: "NOBODY", groups: [group] });
  await changeDirectory(signingInLate(), { at: now, actorId: "test" }, (it) =>
    setSyncedGroups(it, { clientId, schoolId: school, groups: [] }),
  );
  expect(await told()).toEqual([created, ["update", ["groups"]]]);
  expect(await readable()).toEqual([[true, false]]);
  expect(await db.prisma.erasure.count({ where: { clientId } }), "asked to erase a user").toBe(0);
});

test("after a change that takes from an app whom it could read as a user: the history goes on", async () => {
  await make.grant({ app: clientId, school });
  await changeDirectory(signingInLate(), { at: now, actorId: "test" }, (it) =>
    setSignOn(it, { clientId, schoolId: school, signOn: { kind: "NOBODY" } }),
  );
  expect(await told()).toEqual([created]);
  expect(await readable()).toEqual([[true, false]]);
});

test("of a person whom the app could read as synced only: nothing is told, and the history says that they are a user", async () => {
  const group = await make.group({ school });
  await make.membership({ group, person });
  await make.grant({ app: clientId, school, signOn: "NOBODY", groups: [group] });
  expect(await readable()).toEqual([[false, true]]);
  await signIn();
  expect(await told()).toEqual([created]);
  expect(await readable()).toEqual([[true, true]]);
});

test("what was announced is read by the next change of the person, or swept after a day", async () => {
  const announced = async () =>
    (await db.pool.query("SELECT FROM announced_sign_in WHERE person_id = $1", [person])).rowCount;
  await signIn();
  expect(await announced()).toBe(1);
  await sweepAnnounced(db, new Date(later.getTime() + 86_400_000), new AbortController().signal);
  expect(await announced()).toBe(1);
  await change(rename);
  expect(await announced()).toBe(0);
  person = await make.person({ school });
  await signIn();
  await sweepAnnounced(db, new Date(later.getTime() + 86_400_001), new AbortController().signal);
  expect(await announced()).toBe(0);
});

test("one that the change itself takes over: one create", async () => {
  await change(async (it) => {
    await it.touchSchool(school);
    await takeOverSignIn(it, { clientId, personId: person, at: now });
  });
  expect(await told()).toEqual([created]);
});

test("several at once: one create", async () => {
  for (let round = 0; round < 5; round++) {
    person = await make.person({ school });
    await Promise.all([1, 2, 3, 4].map(() => recordFirstSignIn(db, { clientId, personId: person, at: now })));
    expect(await told()).toEqual([created]);
  }
});
