import { changeDirectory, createApp, takeOverSignIn, scopeFromWire, setGrant } from "../src/access/index.ts";
import type { ClientId, ScopeName } from "../src/access/index.ts";
import {
  addMembership,
  createGroup,
  createPerson,
  createSchool,
  deleteGroup,
  softDeletePerson,
} from "../src/directory/index.ts";
import type { Change, GroupId, PersonId, PersonRole, SchoolId } from "../src/directory/index.ts";
import type { Origin } from "../src/events/index.ts";
import type { PrismaDb, Transaction } from "../src/platform/database/db.ts";
import type { Queryable } from "../src/platform/database/sql.ts";
import { giveRole, type StaffRoleName } from "../src/staff/index.ts";
import world from "./demo.json" with { type: "json" };
import firstLook from "./first-look.json" with { type: "json" };

type Accounts = {
  hashPassword(password: string): Promise<string>;
  setPasswordHash(
    tx: Queryable,
    credential: { personId: PersonId; username: string; passwordHash: string; now: Date },
  ): Promise<void>;
};

export type LoadOptions = Accounts & { now: Date; production: boolean; restoreWindowDays: number };

/** Held while loading, so that of several processes that start at once one loads and the others find it done. */
const lockKey = 7_269_001;

const demoActor = "demo";
const names: Record<string, string[]> = firstLook.names;

/**
 * Loads the demo world into an empty database, in one transaction.
 *
 * Shape:  false where the database holds anything already; then a demo world without accounts of staff gets these, and
 *         nothing else is changed.
 * Errors: in production always; its passwords and secrets are public.
 */
export async function loadDemoWorld(db: PrismaDb, options: LoadOptions): Promise<boolean> {
  if (options.production) throw new Error("the demo world has public passwords and is never loaded in production");
  const origin: Origin = { at: options.now, actorId: demoActor };
  return changeDirectory(db, origin, async (change) => {
    await change.tx.query("SELECT pg_advisory_xact_lock($1)", [lockKey]);
    if (!(await isEmpty(change.tx))) {
      if (await lacksStaff(change.tx)) await loadStaff(change, options, origin);
      return false;
    }
    const [hashes] = await Promise.all([hashPasswords(world.people, options), loadDirectory(change)]);
    await setPasswords(change, hashes, options);
    await loadAccess(change, origin);
    // Last, because only an active group or person is made, and deleting is a change of its own.
    for (const group of world.groups) {
      if (group.status === "DELETED") await deleteGroup(change, { groupId: group.id as GroupId });
    }
    for (const person of world.people) {
      if (person.status !== "SOFT_DELETED") continue;
      await softDeletePerson(change, { personId: person.id as PersonId, restoreWindowDays: options.restoreWindowDays });
    }
    await loadStaff(change, options, origin);
    return true;
  });
}

async function isEmpty(tx: Queryable): Promise<boolean> {
  const { rows } = await tx.query<{ empty: boolean }>(
    "SELECT NOT EXISTS (SELECT FROM school) AND NOT EXISTS (SELECT FROM app WHERE client_id <> 'schultor-cli') AS empty",
  );
  return rows[0]!.empty;
}

async function lacksStaff({ prisma }: Transaction): Promise<boolean> {
  const [schools, apps] = [world.schools.map(({ id }) => id), world.apps.map(({ clientId }) => clientId)];
  const usernames = world.staff.map(({ username }) => username);
  return (
    (await prisma.school.count({ where: { id: { in: schools } } })) === schools.length &&
    (await prisma.app.count({ where: { clientId: { in: apps } } })) === apps.length &&
    (await prisma.audit.count({ where: { actorId: demoActor, action: "staff_role_given" } })) === 0 &&
    (await prisma.credential.count({ where: { username: { in: usernames } } })) === 0
  );
}

/** People at no school, so that no app sees them but those of the staff that they sign in to. */
async function loadStaff(change: Change, options: LoadOptions, origin: Origin): Promise<void> {
  const hashes = await hashPasswords(world.staff, options);
  for (const [at, { username, may, schoolId, clientIds = [] }] of world.staff.entries()) {
    const [firstCall = "", last = ""] = names[username] ?? [];
    const name = { firstFull: firstCall, firstCall, last };
    const personId = await createPerson(change, { schools: [], role: "OTHER", name });
    await options.setPasswordHash(change.tx, { personId, username, passwordHash: hashes[at]!, now: options.now });
    const schoolIds = schoolId === undefined ? [] : [schoolId as SchoolId];
    await giveRole(
      change.tx,
      { role: may as StaffRoleName, holder: { personId }, schoolIds, clientIds: clientIds as ClientId[] },
      { giver: null, origin },
    );
  }
}

const hashPasswords = (accounts: { password: string }[], { hashPassword }: LoadOptions): Promise<string[]> =>
  Promise.all(accounts.map(({ password }) => hashPassword(password)));

async function setPasswords(
  { tx }: Change,
  hashes: readonly string[],
  { now, setPasswordHash }: LoadOptions,
): Promise<void> {
  for (const [at, { id, username }] of world.people.entries())
    await setPasswordHash(tx, { personId: id as PersonId, username, passwordHash: hashes[at]!, now });
}

async function loadDirectory(change: Change): Promise<void> {
  for (const school of world.schools) await createSchool(change, { ...school, id: school.id as SchoolId });
  for (const group of world.groups) {
    const type = group.type.toUpperCase() as "KLASSE" | "KURS" | "SONSTIG";
    await createGroup(change, {
      id: group.id as GroupId,
      schoolId: group.schoolId as SchoolId,
      name: group.name,
      type,
    });
  }
  for (const person of world.people) {
    const personId = person.id as PersonId;
    const schools = person.schools as [SchoolId, ...SchoolId[]];
    const { name, sourceSystemIdentifier } = person;
    await createPerson(change, {
      id: personId,
      schools,
      role: person.role as PersonRole,
      name,
      sourceSystemIdentifier,
    });
    for (const groupId of person.groups as GroupId[]) await addMembership(change, { groupId, personId });
  }
}

async function loadAccess(change: Change, origin: Origin): Promise<void> {
  for (const app of world.apps) {
    await createApp(
      change.tx,
      {
        ...app,
        clientId: app.clientId as ClientId,
        clientSecret: app.clientSecret ?? undefined,
        type: app.type === "public" ? "PUBLIC" : "CONFIDENTIAL",
        scopes: app.scopes.map(readScope),
        subjectType: "SHARED",
      },
      { ...origin, allowLoopbackHttp: true },
    );
  }
  for (const grant of world.grants) {
    await setGrant(change, {
      clientId: grant.clientId as ClientId,
      schoolId: grant.schoolId as SchoolId,
      signOn: { kind: grant.signOn ? "EVERYBODY" : "NOBODY" },
      sync: grant.sync,
      syncedGroups: grant.syncedGroups as GroupId[],
    });
  }
  for (const { clientId, personId } of world.signIns) {
    await takeOverSignIn(change, { clientId: clientId as ClientId, personId: personId as PersonId, at: origin.at });
  }
}

function readScope(wire: string): ScopeName {
  const scope = scopeFromWire(wire, [world.platform]);
  if (scope === null) throw new Error(`demo.json names the scope ${wire}, which does not exist`);
  return scope;
}
