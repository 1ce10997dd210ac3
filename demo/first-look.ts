import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  changeDirectory,
  findApp,
  publishDraft,
  putLogo,
  requestScopes,
  setGrant,
  takeOverSignIn,
  updateApp,
  writeDraft,
  type ClientId,
  type DraftInput,
} from "../src/access/index.ts";
import {
  giveUserNamesAtSchool,
  hashPassword,
  putSignInSettings,
  setPasswordHash,
  writeCardSettings,
} from "../src/accounts/index.ts";
import { createPerson, createSchool, type PersonId, type SchoolId } from "../src/directory/index.ts";
import { recordAuditLines } from "../src/events/index.ts";
import { applyImport, previewImport } from "../src/imports/index.ts";
import { addDays } from "../src/platform/clock.ts";
import { makeUuid, shortCodeOf } from "../src/platform/crypto/ids.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../src/platform/database/db.ts";
import { giveRole, type NewRole, type StaffRoleName } from "../src/staff/index.ts";
import { writeCounts, type Counted, type Metric, type Subject } from "../src/traffic/index.ts";
import demo from "./demo.json" with { type: "json" };
import world from "./first-look.json" with { type: "json" };

type Options = { now: Date; production: boolean; restoreWindowDays: number };

const schoolId = world.school.id as SchoolId;
const goetheId = demo.schools[0]!.id as SchoolId;
const clientId = demo.apps[0]!.clientId as ClientId;
const actorId = "demo";

/**
 * Adds to a new demo world what makes no page empty: staff of every kind, and a school with four weeks of imports,
 * sign-ins, webhooks and figures. No app reads this school, so what apps see stays as demo.json says.
 */
export async function loadFirstLook(db: PrismaDb, { now, production, restoreWindowDays }: Options): Promise<void> {
  if (production) throw new Error("the demo world has public passwords and is never loaded in production");
  const hashes = Promise.all(
    [world.pupilPassword, ...world.staff.map(({ password }) => password)].map((one) => hashPassword(one)),
  );
  const logo = await readFile(join(import.meta.dirname, "lernapp-logo.png"));
  const begin = morning(now, 27);
  await changeDirectory(db, { at: begin, actorId }, async (change) => {
    await createSchool(change, { ...world.school, id: schoolId });
    const signOn = { kind: "EVERYBODY" as const };
    await setGrant(change, { clientId, schoolId, signOn, sync: false, syncedGroups: [] });
    await putSignInSettings(
      change.tx,
      {
        schoolId,
        userNameRule: "FIRST_DOT_LAST",
        passwordKind: "LETTERS",
        mustChangePassword: false,
        ownPasswordFromGrade: 6,
        helpText: world.helpText,
      },
      { at: begin, actorId },
    );
    const cards = { enabled: true, grades: null, hours: null, networks: [], printSecondStep: false };
    await writeCardSettings(change.tx, schoolId, { ...cards, secondStep: "NONE" }, { at: begin, actorId });
    await describeApp(change.tx, logo, begin);
  });
  for (const [fileName, at] of [
    ["realschule-beginning.csv", begin],
    ["realschule-later.csv", morning(now, 5)],
  ] as const) {
    const request = { path: join(import.meta.dirname, "roster", fileName), schoolId, fileName, holdShare: 1 };
    const { id } = await previewImport(db, request, { at, actorId });
    const rules = { holdShare: 1, restoreWindowDays, giveUserNames: giveUserNamesAtSchool };
    await applyImport(db, id, rules, { at, actorId });
  }
  const [pupilHash, ...staffHashes] = await hashes;
  await loadStaff(db, { now, hashes: staffHashes });
  const visits = await signPeopleIn(db, { now, passwordHash: pupilHash! });
  await writeTraffic(db, { now, visits });
}

async function describeApp(tx: Transaction, logo: Buffer, at: Date): Promise<void> {
  const app = await findApp(tx, clientId);
  await updateApp(tx, { ...app!, clientId, profile: world.profile }, { at, actorId, allowLoopbackHttp: true });
  await putLogo(tx, clientId, logo, { at, actorId });
  await writeDraft(tx, { clientId, ...(world.agreement as DraftInput) }, { at, actorId });
  await publishDraft(tx, clientId, { at, actorId });
  const reason = "Teachers choose pupils from a list instead of typing their names.";
  const asked = { clientId: demo.apps[1]!.clientId as ClientId, scopes: ["users:read" as const], reason };
  await requestScopes(tx, asked, { at, actorId });
}

function morning(now: Date, daysAgo: number): Date {
  return new Date(addDays(now, -daysAgo).setUTCHours(7, 30, 0, 0));
}

const nameOf = ([first = "", last = ""]: readonly string[]) => ({ firstFull: first, firstCall: first, last });

async function loadStaff(db: PrismaDb, { now, hashes }: { now: Date; hashes: readonly string[] }): Promise<void> {
  const reachOf: Partial<Record<StaffRoleName, Partial<NewRole>>> = {
    DISTRICT: { schoolIds: world.districtSchools as SchoolId[] },
    SUPPORT: { schoolIds: [schoolId], reason: world.supportReason, endsAt: addDays(now, 13) },
  };
  const teacher = { homeSchoolId: schoolId, sourceSystemIdentifier: "L1" };
  await changeDirectory(db, { at: now, actorId }, async (change) => {
    for (const [at, { username, may, name }] of world.staff.entries()) {
      const role = may as StaffRoleName;
      const personId =
        role === "CLASS_TEACHER"
          ? ((await change.tx.prisma.person.findFirstOrThrow({ where: teacher })).id as PersonId)
          : await createPerson(change, { schools: [], role: "OTHER", name: nameOf(name) });
      await setPasswordHash(change.tx, { personId, username, passwordHash: hashes[at]!, now });
      const given = { role, holder: { personId }, schoolIds: [schoolId], ...reachOf[role] };
      await giveRole(change.tx, given, { giver: null, origin: { at: now, actorId } });
    }
  });
}

type Visit = { at: Date; personId: PersonId; schoolId: SchoolId };

/** The same number for the same text, from 0 to 1. */
const share = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;

/** Points of time at school in the last four weeks: on weekdays, and in any case in the last 24 hours. */
function schoolHours(now: Date, key: string, often: number): Date[] {
  return Array.from({ length: 27 }, (_, ago) => ({ ago, day: addDays(now, -ago) }))
    .filter(({ ago, day }) => ago < 2 || day.getUTCDay() % 6 !== 0)
    .filter(({ day }) => share(`${key} ${day.toISOString().slice(0, 10)}`) < often)
    .map(({ day }) => new Date(day.setUTCHours(6, 0, 0, 0) + share(key) * 6 * 3_600_000))
    .filter((at) => at < now)
    .sort((left, right) => left.getTime() - right.getTime());
}

/** Gives most pupils a password, and those their sign-ins to the app; a few never signed in or cannot. */
async function signPeopleIn(
  db: PrismaDb,
  { now, passwordHash }: { now: Date; passwordHash: string },
): Promise<Visit[]> {
  const pupils = await db.prisma.person.findMany({
    where: { homeSchoolId: schoolId, role: "STUDENT", status: "ACTIVE" },
    select: { id: true },
    orderBy: [{ sourceSystemIdentifier: "asc" }],
  });
  const withPassword = pupils.slice(0, -4).map(({ id }) => id as PersonId);
  await db.prisma.credential.updateMany({
    where: { personId: { in: withPassword } },
    data: { passwordHash, updatedAt: morning(now, 27) },
  });
  const regulars = withPassword.slice(0, -6).map((personId) => ({ personId, schoolId }));
  // People whom the app sees without a sign-in, so that it sees nobody else.
  const atGoethe = demo.people
    .filter(({ username }) => ["teacher.goethe", "student.goethe", "nogroup.goethe"].includes(username))
    .map(({ id }) => ({ personId: id as PersonId, schoolId: goetheId }));
  const visits = [...regulars, ...atGoethe].flatMap((person) =>
    schoolHours(now, person.personId, 0.5).map((at) => ({ ...person, at })),
  );
  const lastOf = (list: typeof visits) => [...new Map(list.map((visit) => [visit.personId, visit])).values()];
  const firstAndLast = [...lastOf(visits.toReversed()), ...lastOf(visits)];
  await changeDirectory(db, { at: now, actorId }, async (change) => {
    for (const { personId, at } of firstAndLast) await takeOverSignIn(change, { clientId, personId, at });
    const lines = visits.map(({ at, personId }) => ({ at, action: "signed_in" as const, clientId, personId }));
    await recordAuditLines(change.tx, lines);
  });
  return visits;
}

/** What the service counts and logs as it runs, written at once. */
async function writeTraffic(db: PrismaDb, { now, visits }: { now: Date; visits: readonly Visit[] }): Promise<void> {
  const counted = new Map<string, Counted>();
  const count = (metric: Metric, outcome: string, at: Date, of: { schoolId?: SchoolId; times?: number } = {}) => {
    const hour = new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000);
    const school: Subject[] = of.schoolId === undefined ? [] : [`school:${of.schoolId}`];
    for (const subject of ["", `app:${clientId}`, ...school] as Subject[]) {
      const key = [metric, outcome, subject, hour.getTime()].join(" ");
      const found = counted.get(key) ?? { metric, outcome, subject, hour, count: 0 };
      counted.set(key, { ...found, count: found.count + (of.times ?? 1) });
    }
  };
  for (const { at, personId, schoolId: of } of visits) {
    count("signIns", "done", at, { schoolId: of });
    if (share(`password ${personId} ${at.toISOString()}`) < 0.4) count("passwordSignIns", "done", at, { schoolId: of });
    count("tokens", "authorization_code", at);
    count("apiCalls", "done", at, { times: 2 });
    count("apiCalls", "not_modified", at, { times: 5 });
  }
  for (const at of schoolHours(now, "refused", 1)) {
    count("apiCalls", "refused", at);
    count("refusals", "school_not_found", at);
  }
  await withPrismaTransaction(db, async (tx) => {
    await writeLogs(tx, { now, visits });
    for (const { at, state } of await writeDeliveries(tx, now)) count("deliveries", state, at);
    await writeCounts(tx, [...counted.values()]);
  });
}

const line = (at: Date, key: string) => {
  const requestId = makeUuid(at);
  return { id: makeUuid(at), clientId, at, requestId, shortCode: shortCodeOf(requestId), attempt: key };
};

/** The requests and sign-ons of the app in the days for which these logs are kept. */
async function writeLogs(tx: Transaction, { now, visits }: { now: Date; visits: readonly Visit[] }): Promise<void> {
  const recent = visits
    .filter(({ at }) => at > addDays(now, -6))
    .sort((left, right) => left.at.getTime() - right.at.getTime())
    .slice(-40);
  const reads = [
    { operationId: "listSchools", path: "/idm/ep/v1/schools" },
    { operationId: "listSchoolUsers", path: `/idm/ep/v1/schools/${goetheId}/users` },
    { operationId: "listChanges", path: "/idm/ep/v1/changes" },
  ];
  const refusal = { status: 404, code: "school_not_found", message: "School not found for this app" };
  await tx.prisma.apiRequest.createMany({
    data: recent.map(({ at }, index) => {
      const { attempt: _attempt, ...base } = line(at, "");
      const isRefused = index % 9 === 4;
      const path = isRefused ? `/idm/ep/v1/schools/${schoolId}/users` : reads[index % 3]!.path;
      const answer = isRefused ? { ...refusal, operationId: "listSchoolUsers" } : { status: 200, ...reads[index % 3]! };
      return { ...base, ...answer, path, durationMs: 4 + Math.floor(20 * share(`${index}`)) };
    }),
  });
  await tx.prisma.signOnStep.createMany({
    data: recent.slice(-24).flatMap(({ at }, index) => {
      const isRefused = index % 8 === 5;
      const steps = ["authorize", "login", "code", "token"];
      return steps.map((step, seconds) => {
        const base = line(new Date(at.getTime() + seconds * 2000), `demo-${index}`);
        if (!isRefused || step !== "token") return { ...base, step, outcome: "done" };
        const { reason, description } = { reason: "code_used", description: "the code was used before" };
        return { ...base, step, outcome: "refused", code: "invalid_grant", reason, description };
      });
    }),
  });
}

/** An endpoint whose address leads nowhere, so it is disabled, with the deliveries of four weeks. */
async function writeDeliveries(tx: Transaction, now: Date): Promise<{ at: Date; state: "done" | "failed" }[]> {
  const begin = addDays(now, -27);
  const endpointId = makeUuid(begin);
  await tx.prisma.webhookEndpoint.create({
    data: {
      id: endpointId,
      clientId,
      url: world.webhookUrl,
      eventTypes: ["person", "group", "school"],
      state: "DISABLED",
      reason: "asked_for",
      stateChangedAt: now,
      createdAt: begin,
      updatedAt: now,
    },
  });
  const sent = schoolHours(now, "webhook", 1).map((at, index) => ({ at, isFailed: index % 7 === 3, index }));
  for (const { at, isFailed, index } of sent) {
    const personId = demo.people[index % 4]!.id;
    const answer = isFailed ? { status: 503, answer: Buffer.from("Service Unavailable") } : { status: 204 };
    const { id: deliveryId } = await tx.prisma.webhookDelivery.create({
      data: {
        messageId: makeUuid(at),
        endpointId,
        eventType: "person",
        subjectId: personId,
        body: JSON.stringify({ event: "person", action: "update", updatedProperties: ["groups"], personId }),
        state: isFailed ? "FAILED" : "DELIVERED",
        attempts: isFailed ? 4 : 1,
        createdAt: at,
        finishedAt: new Date(at.getTime() + (isFailed ? 2_105_000 : 140)),
      },
    });
    const delaysMs = isFailed ? [0, 5_000, 305_000, 2_105_000] : [0];
    await tx.prisma.webhookAttempt.createMany({
      data: delaysMs.map((delay, tries) => ({
        deliveryId,
        number: tries + 1,
        at: new Date(at.getTime() + delay),
        durationMs: 60 + Math.floor(80 * share(`${index} ${tries}`)),
        ...answer,
      })),
    });
  }
  return sent.map(({ at, isFailed }) => ({ at, state: isFailed ? "failed" : "done" }));
}
