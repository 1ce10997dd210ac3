import { hash, randomInt } from "node:crypto";
import { appNotFound, changeDirectory, lockApp, setGrant, type ClientId } from "../access/index.ts";
import {
  createGroup,
  createPeople,
  createPerson,
  createSchool,
  softDeletePerson,
  addMembership,
  originOf,
  type Change,
  type GroupId,
  type PersonId,
  type PersonName,
  type PersonRole,
  type SchoolId,
} from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import type { PrismaDb, RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { takeToken } from "../platform/database/token-bucket.ts";
import { hashInTurn, makePassword, setLoginIn } from "../accounts/index.ts";
import { getSandbox, type Sandbox, type SandboxId } from "./find.ts";
import { accounts, audiences, groups, leavers, schools, type AccountKind, type Place } from "./world.ts";

/** Units: in days. */
const lifetime = 30;
/** As many as an app has at a time. */
export const mostSandboxes = 3;
/** What one leaves behind, such as events, outlives it. */
const ofApp = { capacity: 20, refillSeconds: 86_400 };

/** An invented person who can sign in, and what is to be expected of it. */
export type SandboxLogin = {
  kind: AccountKind;
  personId: PersonId;
  role: PersonRole;
  name: PersonName | null;
  schoolIds: SchoolId[];
  username: string;
  password: string;
  expectation: string;
};

export type CreatedSandbox = { sandbox: Sandbox; accounts: SandboxLogin[] };

type Wanted<T> = {
  clientId: ClientId;
  restoreWindowDays: number;
  /** Runs at the end of the change, in its transaction. */
  finish: (change: Change, made: CreatedSandbox) => Promise<T>;
};

/**
 * Makes a sandbox for an app: two schools that share data with it, and people who can sign in.
 *
 * Shape:  the passwords are in the answer, and nowhere else.
 * Errors: not_found app_not_found; conflict too_many_sandboxes.
 */
export async function createSandbox<T>(db: PrismaDb, wanted: Wanted<T>, origin: Origin): Promise<T> {
  const { clientId, restoreWindowDays, finish } = wanted;
  // Before the passwords are hashed, which keeps others waiting who make passwords.
  await refuseFourth(db, clientId);
  await refuseTooOften(db, clientId, origin.at);
  const secrets = await Promise.all(
    accounts.map(async () => {
      const password = makePassword("LETTERS");
      return { password, passwordHash: await hashInTurn(password) };
    }),
  );
  return changeDirectory(db, origin, async (change) => {
    const id = await openSandbox(change, clientId);
    const ids = await makeSchools(change, id);
    const made = await makeGroups(change, ids);
    await makeGrants(change, { clientId, ids, made });
    const logins = await makeAccounts(change, { ids, made, secrets, restoreWindowDays });
    await createPeople(change, {
      schoolId: ids.main,
      people: leavers.map((name, at) => ({
        role: "STUDENT",
        name,
        groups: [made["main 10a"]!],
        sourceSystemIdentifier: `leaver-${at + 1}`,
      })),
    });
    await recordAudit(change.tx, {
      ...originOf(change),
      action: "sandbox_created",
      clientId,
      detail: { sandboxId: id, schools: Object.values(ids) },
    });
    return finish(change, { sandbox: await getSandbox(change.tx, id), accounts: logins });
  });
}

/** Errors: not_found app_not_found; conflict too_many_sandboxes. */
async function openSandbox({ tx, now }: Change, clientId: ClientId): Promise<SandboxId> {
  if ((await lockApp(tx, clientId)) === null) throw appNotFound();
  await refuseFourth(tx, clientId);
  const id = makeUuid(now) as SandboxId;
  await tx.prisma.sandbox.create({ data: { id, clientId, createdAt: now, expiresAt: addDays(now, lifetime) } });
  return id;
}

const tooMany = (message: string) => new AppError("conflict", "too_many_sandboxes", message);

/** Errors: conflict too_many_sandboxes. */
async function refuseFourth({ prisma }: RecordStore, clientId: ClientId): Promise<void> {
  if ((await prisma.sandbox.count({ where: { clientId } })) >= mostSandboxes)
    throw tooMany(`The app has ${mostSandboxes} sandboxes, which is as many as it may have. Delete one first.`);
}

/** Errors: conflict too_many_sandboxes, where the app made twenty within 24 hours. */
async function refuseTooOften(db: PrismaDb, clientId: ClientId, now: Date): Promise<void> {
  const key = hash("sha256", `sandboxes of ${clientId}`, "buffer");
  const next = await takeToken(db.pool, { key, ...ofApp }, now);
  if (next !== null)
    throw tooMany(`Too many sandboxes were made for the app. The next one can be made at ${next.toISOString()}.`);
}

type Ids = Record<Place, SchoolId>;
type Groups = Record<string, GroupId>;
const places: readonly Place[] = ["main", "second"];

async function makeSchools(change: Change, sandboxId: SandboxId): Promise<Ids> {
  const make = (place: Place) =>
    createSchool(change, { ...schools[place], officialId: `sandbox-${sandboxId}-${place}`, sandboxId });
  return { main: await make("main"), second: await make("second") };
}

async function makeGroups(change: Change, ids: Ids): Promise<Groups> {
  const made: Groups = {};
  for (const [key, { at, name, type }] of Object.entries(groups)) {
    const sourceSystemIdentifier = key.slice(at.length + 1);
    made[key] = await createGroup(change, { schoolId: ids[at], name, type, sourceSystemIdentifier });
  }
  return made;
}

async function makeGrants(
  change: Change,
  { clientId, ids, made }: { clientId: ClientId; ids: Ids; made: Groups },
): Promise<void> {
  for (const place of places) {
    const synced = Object.entries(groups).filter(([, group]) => group.at === place && group.isSynced);
    await setGrant(change, {
      clientId,
      schoolId: ids[place],
      sync: true,
      signOn: { kind: "ROLES", roles: audiences[place] },
      syncedGroups: synced.map(([key]) => made[key]!),
    });
  }
}

type Making = {
  ids: Ids;
  made: Groups;
  secrets: readonly { password: string; passwordHash: string }[];
  restoreWindowDays: number;
};

async function makeAccounts(change: Change, { ids, made, secrets, restoreWindowDays }: Making) {
  const prefix = `sandbox-${makeCode()}`;
  const logins: SandboxLogin[] = [];
  for (const [at, { kind, username: ending, name, role, ...account }] of accounts.entries()) {
    const schoolIds = account.at.map((place) => ids[place]);
    const person = { role, name, schools: schoolIds, sourceSystemIdentifier: ending };
    const personId = await createPerson(change, person);
    for (const key of account.groups) await addMembership(change, { groupId: made[key]!, personId });
    const username = `${prefix}.${ending}`;
    const { password, passwordHash } = secrets[at]!;
    await setLoginIn(change.tx, { personId, username, passwordHash }, originOf(change));
    if (kind === "SOFT_DELETED") await softDeletePerson(change, { personId, restoreWindowDays });
    const { expectation } = account;
    logins.push({ kind, personId, role, name, schoolIds, username, password, expectation });
  }
  return logins;
}

const signs = "bcdfghjkmnpqrstvwxyz23456789";
const codeLength = 8;

/** What the user names of one sandbox have in common, so that none is taken. Units: 38 bits. */
const makeCode = (): string => Array.from({ length: codeLength }, () => signs[randomInt(signs.length)]!).join("");
