/*
 * change-tracking: compares what each app sees before and after a change, and emits the events for the difference.
 *
 * Nouns:      subject (a person, group or school), snapshot (what apps saw before the change), diff, announced sign-in
 *             (what an app saw of a person at their first sign-in).
 * Invariants: a subject is in the snapshot before it is altered; the events of a change commit with it; a first sign-in
 *             and the commit of a change of the same school never overlap.
 * Never knows: what a use case writes, how events are delivered.
 */
import type { PersonId, SchoolId, Touched } from "../../directory/index.ts";
import { takeBackAppEvents } from "../../events/index.ts";
import { findRows, type Queryable, statement, table } from "../../platform/database/sql.ts";
import { takeBackErasures } from "../erasures.ts";
import { makeSchoolLocks } from "./locks.ts";
import { emitDiff, makeParameterStore } from "./parameter-store.ts";
import type { Subject } from "./snapshot.ts";
import { makeTableStore, type TableStore } from "./table-store.ts";

export { makeAnnouncedSweep, sweepAnnounced } from "./announced.ts";
export { tryHoldForSignIn } from "./locks.ts";
export { announce, emitDiff, findSnapshot } from "./parameter-store.ts";
export type { EventProperty } from "./snapshot.ts";

/** The first touch of a whole school moves the snapshot from memory to temporary tables. */
export function makeChangeTracking(tx: Queryable) {
  const locks = makeSchoolLocks(tx);
  const subjects = new Map<string, Subject>();
  const wholeSchools = new Set<SchoolId>();
  const small = makeParameterStore(tx);
  let large: TableStore | null = null;

  const touch = async (touched: Touched): Promise<void> => {
    const { people = [], groups = [], schools = [], membersOf = [] } = touched;
    await locks.hold({ ...touched, groups: [...groups, ...membersOf] });
    const members = membersOf.length > 0 ? await findMembers(tx, membersOf) : [];
    const named: Subject[] = [
      ...[...people, ...members].map((id) => ({ type: "person" as const, id, client: "" })),
      ...[...groups, ...membersOf].map((id) => ({ type: "group" as const, id, client: "" })),
      ...schools.map((id) => ({ type: "school" as const, id, client: "" })),
    ];
    const added = new Map(
      named.map((subject) => [`${subject.type} ${subject.id}`, subject] as const).filter(([key]) => !subjects.has(key)),
    );
    if (added.size === 0) return;
    for (const [key, subject] of added) subjects.set(key, subject);
    await (large ?? small).add([...added.values()]);
  };

  const touchSchool = async (schoolId: SchoolId, clientId = ""): Promise<void> => {
    await locks.holdLinked(schoolId);
    wholeSchools.add(schoolId);
    large ??= await makeTableStore(tx, small);
    await large.addSchool(schoolId, clientId);
  };

  /** From here to the commit, first sign-ins at these schools wait. */
  const finish = async (now: Date): Promise<void> => {
    if (!large && subjects.size === 0) return;
    // People who came to another school are compared there too.
    for (const school of wholeSchools) await locks.holdLinked(school);
    const people = [...subjects.values()].filter(({ type }) => type === "person").map(({ id }) => id as PersonId);
    await locks.hold({ people });
    const store = large ?? small;
    await store.keepSeen();
    await store.emit(now, await store.takeAnnounced());
    // Checks deferred constraints now, because the lock below should be short.
    await tx.query("SET CONSTRAINTS ALL IMMEDIATE");
    await locks.holdForCommit();
    await emitAgain(now);
  };

  /** Corrects the events of people whose first sign-in came between the diff and the lock. */
  const emitAgain = async (now: Date): Promise<void> => {
    const before = await (large ?? small).takeAnnounced();
    if (before.length === 0) return;
    const pairs = before.map(({ type, subject_id: id, client_id: client }) => ({ type, id, client }));
    await takeBackAppEvents(
      tx,
      pairs.map(({ id, client }) => ({ subjectId: id, clientId: client })),
    );
    await takeBackErasures(tx, pairs);
    await emitDiff(tx, now, { before, subjects: pairs, by: "change-again" });
  };

  return { touch, touchSchool, finish };
}

const m = table("membership", "m");
const selectMembers = statement<{ groups: readonly string[] }>("access.findMembers")`
  SELECT DISTINCT ${m.personId} FROM ${m} WHERE ${m.groupId} = ANY (${"groups"})`;

async function findMembers(tx: Queryable, groups: readonly string[]): Promise<PersonId[]> {
  const rows = await findRows<{ person_id: PersonId }, { groups: readonly string[] }>(tx, selectMembers, { groups });
  return rows.map(({ person_id }) => person_id);
}
