import { hash, randomInt } from "node:crypto";
import { appNotFound, changeDirectory, findAppPersonId, lockApp, setGrant, type ClientId } from "../access/index.ts";
import {
  createGroup,
  createPeople,
  createPerson,
  createSchool,
  softDeletePerson,
  addMembership,
  auditChange,
  originOf,
} from "../directory/index.ts";
import type { Change, GroupId, PersonName, PersonRole, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import type { PrismaDb, RecordStore } from "../platform/database/db.ts";
import { checkLimit } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { takeToken } from "../platform/database/token-bucket.ts";
import { hashInTurn, makePassword, setLoginIn } from "../accounts/index.ts";
import { getSandbox, type Sandbox, type SandboxId } from "./find.ts";
import { accounts, audiences, groups, leavers, schools, type AccountKind, type SchoolKey } from "./world.ts";

const lifetimeDays = 30;
const mostSandboxes = 3;
/** Limits creation too, because events and audit lines outlive a sandbox. */
const creationLimit = { capacity: 20, refillSeconds: 86_400 };

type SandboxLogin = {
  kind: AccountKind;
  /** As the app knows the person. */
  personId: string;
  role: PersonRole;
  name: PersonName | null;
  schoolIds: SchoolId[];
  username: string;
  password: string;
  expectation: string;
};

export type CreatedSandbox = { sandbox: Sandbox; accounts: SandboxLogin[] };

type SandboxRequest<T> = {
  clientId: ClientId;
  restoreWindowDays: number;
  finish: (change: Change, made: CreatedSandbox) => Promise<T>;
};

/** Only the result has the passwords. Errors: not_found app_not_found; conflict too_many_sandboxes. */
export async function createSandbox<T>(db: PrismaDb, request: SandboxRequest<T>, origin: Origin): Promise<T> {
  const { clientId, restoreWindowDays, finish } = request;
  // Checked before hashing, which delays everybody else who sets passwords.
  await refuseOverLimit(db, { clientId, lock: async () => undefined });
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
    const logins = await makeAccounts(change, { clientId, ids, made, secrets, restoreWindowDays });
    await createPeople(change, {
      schoolId: ids.main,
      people: leavers.map((name, at) => ({
        role: "STUDENT",
        name,
        groups: [made["main 10a"]!],
        sourceSystemIdentifier: `leaver-${at + 1}`,
      })),
    });
    await auditChange(change, {
      action: "sandbox_created",
      clientId,
      detail: { sandboxId: id, schools: Object.values(ids) },
    });
    return finish(change, { sandbox: await getSandbox(change.tx, id), accounts: logins });
  });
}

async function openSandbox({ tx, now }: Change, clientId: ClientId): Promise<SandboxId> {
  const lock = async () => {
    if ((await lockApp(tx, clientId)) === null) throw appNotFound();
  };
  await refuseOverLimit(tx, { clientId, lock });
  const id = makeUuid(now) as SandboxId;
  await tx.prisma.sandbox.create({ data: { id, clientId, createdAt: now, expiresAt: addDays(now, lifetimeDays) } });
  return id;
}

const tooMany = (message: string) => new AppError("conflict", "too_many_sandboxes", message);

const refuseOverLimit = (
  { prisma }: RecordStore,
  { clientId, lock }: { clientId: ClientId; lock: () => Promise<void> },
): Promise<void> =>
  checkLimit({
    lock,
    count: () => prisma.sandbox.count({ where: { clientId } }),
    most: mostSandboxes,
    full: () => tooMany(`The app has ${mostSandboxes} sandboxes, which is as many as it may have. Delete one first.`),
  });

async function refuseTooOften(db: PrismaDb, clientId: ClientId, now: Date): Promise<void> {
  const key = hash("sha256", `sandboxes of ${clientId}`, "buffer");
  const next = await takeToken(db.pool, { key, ...creationLimit }, now);
  if (next !== null)
    throw tooMany(`The app has created too many sandboxes. It can create the next one at ${next.toISOString()}.`);
}

type Ids = Record<SchoolKey, SchoolId>;
type Groups = Record<string, GroupId>;
const schoolKeys: readonly SchoolKey[] = ["main", "second"];

async function makeSchools(change: Change, sandboxId: SandboxId): Promise<Ids> {
  const make = (key: SchoolKey) =>
    createSchool(change, { ...schools[key], officialId: `sandbox-${sandboxId}-${key}`, sandboxId });
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

async function makeGrants(change: Change, { clientId, ids, made }: { clientId: ClientId; ids: Ids; made: Groups }) {
  for (const key of schoolKeys) {
    const synced = Object.entries(groups).filter(([, group]) => group.at === key && group.isSynced);
    await setGrant(change, {
      clientId,
      schoolId: ids[key],
      sync: true,
      signOn: { kind: "ROLES", roles: audiences[key] },
      syncedGroups: synced.map(([group]) => made[group]!),
    });
  }
}

type Making = {
  clientId: ClientId;
  ids: Ids;
  made: Groups;
  secrets: readonly { password: string; passwordHash: string }[];
  restoreWindowDays: number;
};

async function makeAccounts(change: Change, { clientId, ids, made, secrets, restoreWindowDays }: Making) {
  const prefix = `sandbox-${makeCode()}`;
  const logins: SandboxLogin[] = [];
  for (const [at, { kind, username: ending, name, role, ...account }] of accounts.entries()) {
    const schoolIds = account.at.map((key) => ids[key]);
    const personId = await createPerson(change, { role, name, schools: schoolIds, sourceSystemIdentifier: ending });
    for (const key of account.groups) await addMembership(change, { groupId: made[key]!, personId });
    const username = `${prefix}.${ending}`;
    const { password, passwordHash } = secrets[at]!;
    await setLoginIn(change.tx, { personId, username, passwordHash }, originOf(change));
    if (kind === "SOFT_DELETED") await softDeletePerson(change, { personId, restoreWindowDays });
    const { expectation } = account;
    const appId = await findAppPersonId(change.tx, { clientId, personId });
    logins.push({ kind, personId: appId!, role, name, schoolIds, username, password, expectation });
  }
  return logins;
}

const letters = "bcdfghjkmnpqrstvwxyz23456789";
const codeLength = 8;

/** A random prefix (38 bits) that keeps user names of different sandboxes apart. */
const makeCode = (): string => Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]!).join("");
