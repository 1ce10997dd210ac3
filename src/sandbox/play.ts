import { forgetPerson } from "../accounts/index.ts";
import { askingApps, changeDirectory, findGrant, setSyncedGroups, setSync, type ClientId } from "../access/index.ts";
import {
  addMembership,
  createGroup,
  createPeople,
  deleteGroup,
  deletePerson,
  auditChange,
  removeMembership,
  renameGroup,
  restorePerson,
  softDeletePerson,
} from "../directory/index.ts";
import type { Change, GroupId, PersonId, PersonName, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { getSandbox, lockSandbox, type Sandbox, type SandboxId } from "./find.ts";
import { sandboxSteps, type SandboxStepName } from "./steps.ts";

type Playing = { change: Change; schoolId: SchoolId; clientId: ClientId; restoreWindowDays: number };

const massJoinSize = 1000;

const play: Record<SandboxStepName, (at: Playing) => Promise<unknown>> = {
  JOIN: async (at) => join(at, { names: joiners, as: "joiner", groupId: await groupOf(at, "5a") }),
  MOVE: async (at) => {
    const personId = await personOf(at, "joiner-1");
    await removeMembership(at.change, { groupId: await groupOf(at, "5a"), personId });
    await addMembership(at.change, { groupId: await groupOf(at, "5b"), personId });
  },
  LEAVE: async (at) => leave(at, "joiner-2"),
  RESTORE: async (at) => restorePerson(at.change, { personId: await personOf(at, "joiner-2") }),
  MANY: async (at) => {
    const groupId = await addSyncedGroup(at, { name: "Jahrgang 7", type: "SONSTIG", sourceSystemIdentifier: "many" });
    await join(at, { names: Array.from({ length: massJoinSize }, (_, n) => inventName(n)), as: "many", groupId });
  },
  SYNC_OFF: ({ change, schoolId, clientId }) => setSync(change, { schoolId, clientId, sync: false }),
  SYNC_ON: ({ change, schoolId, clientId }) => setSync(change, { schoolId, clientId, sync: true }),
  NEW_YEAR: async (at) => {
    await at.change.touchSchool(at.schoolId);
    await deleteGroup(at.change, { groupId: await groupOf(at, "10a") });
    for (const key of ["leaver-1", "leaver-2"]) await leave(at, key);
    await renameGroup(at.change, { groupId: await groupOf(at, "5a"), name: "6a" });
    await renameGroup(at.change, { groupId: await groupOf(at, "5b"), name: "6b" });
    const groupId = await addSyncedGroup(at, { name: "5a", type: "KLASSE", sourceSystemIdentifier: "next 5a" });
    await join(at, { names: newcomers, as: "newcomer", groupId });
  },
  ERASE: async (at) => {
    await leave(at, "joiner-3");
    await deletePerson(at.change, { personId: await personOf(at, "joiner-3"), forget: askingApps(forgetPerson) });
  },
};

type PlayOptions = { id: SandboxId; upTo: SandboxStepName; restoreWindowDays: number; clock: Clock };

/** Errors: not_found sandbox_not_found; conflict sandbox_changed if a change by hand makes a step impossible. */
export async function playSandbox(
  db: PrismaDb,
  { id, upTo, restoreWindowDays, clock }: PlayOptions,
  origin: Omit<Origin, "at">,
): Promise<Sandbox> {
  const last = sandboxSteps.findIndex(({ step }) => step === upTo);
  for (const { step } of sandboxSteps.slice(0, last + 1)) {
    await changeDirectory(db, { ...origin, at: clock() }, async (change) => {
      const sandbox = await lockSandbox(change.tx, id);
      if (sandbox.steps.some((played) => played.step === step && played.doneAt !== null)) return;
      await playStep(change, { sandbox, step, restoreWindowDays });
    });
  }
  return getSandbox(db, id);
}

type Step = { sandbox: Sandbox; step: SandboxStepName; restoreWindowDays: number };

async function playStep(change: Change, { sandbox, step, restoreWindowDays }: Step): Promise<void> {
  const { id: sandboxId, clientId } = sandbox;
  const school = sandbox.schools.find(({ officialId }) => officialId.endsWith("-main"));
  if (school === undefined) throw changed();
  await play[step]({ change, clientId, schoolId: school.id, restoreWindowDays }).catch((error: unknown) => {
    const isRefused = error instanceof AppError && (error.kind === "not_found" || error.kind === "conflict");
    throw isRefused ? changed(error) : error;
  });
  await change.tx.prisma.sandboxStep.create({ data: { sandboxId, step, doneAt: change.now } });
  const detail = { sandboxId, step };
  await auditChange(change, { action: "sandbox_step_played", clientId, detail });
}

function changed(cause?: unknown): AppError {
  const message = "The sandbox was changed by hand, so this step cannot be done. Make a new sandbox.";
  return new AppError("conflict", "sandbox_changed", message, undefined, { cause });
}

async function personOf({ change, schoolId }: Playing, sourceSystemIdentifier: string): Promise<PersonId> {
  const where = { homeSchoolId: schoolId, sourceSystemIdentifier };
  const person = await change.tx.prisma.person.findFirst({ where, select: { id: true } });
  if (person === null) throw changed();
  return person.id as PersonId;
}

async function groupOf({ change, schoolId }: Playing, sourceSystemIdentifier: string): Promise<GroupId> {
  const where = { schoolId, sourceSystemIdentifier };
  const group = await change.tx.prisma.group.findFirst({ where, select: { id: true } });
  if (group === null) throw changed();
  return group.id as GroupId;
}

const leave = async (at: Playing, key: string): Promise<Date> =>
  softDeletePerson(at.change, { personId: await personOf(at, key), restoreWindowDays: at.restoreWindowDays });

type Joining = { names: readonly PersonName[]; as: string; groupId: GroupId };

const join = ({ change, schoolId }: Playing, { names, as, groupId }: Joining): Promise<PersonId[]> =>
  createPeople(change, {
    schoolId,
    people: names.map((name, at) => ({
      name,
      role: "STUDENT",
      groups: [groupId],
      sourceSystemIdentifier: `${as}-${at + 1}`,
    })),
  });

type NewGroup = Pick<Parameters<typeof createGroup>[1], "name" | "type" | "sourceSystemIdentifier">;

async function addSyncedGroup({ change, schoolId, clientId }: Playing, group: NewGroup): Promise<GroupId> {
  await change.touchSchool(schoolId, clientId);
  const groupId = await createGroup(change, { ...group, schoolId });
  const grant = await findGrant(change.tx, { clientId, schoolId });
  if (grant === null) throw changed();
  await setSyncedGroups(change, { clientId, schoolId, groups: [...grant.syncedGroups, groupId] });
  return groupId;
}

const called = (firstFull: string, last: string): PersonName => ({
  firstFull,
  firstCall: firstFull.split(" ")[0]!,
  last,
});
const joiners = [called("Jana Sofie", "Neu"), called("Kian", "Neumann"), called("Lotte", "Neuß")];
const newcomers = [called("Mila", "Anfang"), called("Noah", "Anfang")];

const firstNames = ["Ada", "Bela", "Cem", "Dilan", "Emil", "Frieda", "Greta", "Hüseyin", "Ilse", "Jonne"];
const middleNames = ["Marie", "Can", "Luise", "Ole", "Zoë", "Änne", "Björn", "Nour", "Tom", "Lea"];
const lastNames = ["Acker", "Bäcker", "Çelik", "Dreßler", "Ebert", "Förster", "Große", "Hölzl", "Imhoff", "Jäger"];

const inventName = (n: number): PersonName =>
  called(`${firstNames[n % 10]!} ${middleNames[Math.floor(n / 10) % 10]!}`, lastNames[Math.floor(n / 100) % 10]!);
