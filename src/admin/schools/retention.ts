import {
  findRetention,
  personNameOf,
  type PersonId,
  type Retention,
  type RetentionDefaults,
  type SchoolId,
} from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import {
  countDue,
  deleteExemption,
  findDue,
  findExemption,
  findPolicy,
  givenAt,
  isUnusual,
  listDue,
  listRetentionHolds,
  listSchoolsOfState,
  listStatesWithPolicy,
  lockExemption,
  putExemption,
  putPolicy,
  releaseRetention as release,
  withProposal,
  type DueCounts,
  type DuePerson,
  type RetentionExemption,
  type RetentionRules,
} from "../../retention/index.ts";
import { answerRecord, changeRecord, commitDone, tagOf } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type Schemas } from "../handler.ts";
import { schoolUnknown, getReachedPerson } from "../reached.ts";
import { settingsOfSchool } from "./settings.ts";

type Policy = Schemas["RetentionPolicy"];

const appliedOf = (retention: Retention, name: keyof RetentionDefaults) => ({
  value: retention[name],
  reason: retention[`${name}Reason`],
  origin: retention[`${name}Origin`],
});

const presentApplied = (retention: Retention) =>
  present("AppliedRetention", {
    leftMonths: { ...appliedOf(retention, "leftMonths"), from: retention.leftFrom },
    inactiveMonths: { ...appliedOf(retention, "inactiveMonths"), includesRoster: retention.inactiveRoster },
    restoreDays: appliedOf(retention, "restoreDays"),
    auditDays: appliedOf(retention, "auditDays"),
  });

/** For how long data is kept: at a school as it decided, otherwise as the service does. */
export async function readPeriods({ db, retention, retentionRules }: AdminDeps, schoolId: SchoolId | null) {
  const ofSchool = schoolId && (await findRetention(db.pool, schoolId, retentionRules.defaults));
  if (!ofSchool) return retention;
  const { leftMonths, restoreDays: deletedPersonDays, auditDays } = ofSchool;
  return { ...retention, leftMonths, deletedPersonDays, auditDays };
}

const laterOf = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other > one) ? other : one;

export const getRetention: AdminHandler<"getRetention"> = async ({ db, retentionRules }, { schoolId }) => {
  const { defaults, limits, noticeDays } = retentionRules;
  const retention = await findRetention(db.pool, schoolId, defaults);
  if (retention === null) throw schoolUnknown();
  const [hold] = await listRetentionHolds(db, [schoolId]);
  const policy: Policy = await findPolicy(db, { schoolId });
  const body = present("SchoolRetention", {
    policy,
    applied: presentApplied(retention),
    limits,
    noticeDays,
    effectiveAt: laterOf(retention.leftEffectiveAt, retention.inactiveEffectiveAt),
    heldAt: hold?.heldAt ?? null,
    heldPeople: hold?.people ?? null,
  });
  return { status: 200, body, headers: { ETag: tagOf(policy) } };
};

export const { put: putRetention } = settingsOfSchool<Policy, Policy>(
  (db, schoolId) => findPolicy(db, { schoolId }),
  (tx, { schoolId, body: policy, origin }, { retentionRules: rules }) =>
    putPolicy(tx, { subject: { schoolId }, policy, rules }, origin),
);

export const presentDue = (due: DuePerson) => present("RetentionDuePerson", { ...due, name: personNameOf(due) });

const presentCount = (counts: DueCounts, { hold }: RetentionRules) =>
  present("RetentionCount", { ...counts, isHeld: isUnusual(hold, counts.due, counts.people) });

const shownInPreview = 100;

export const previewRetention: AdminHandler<"previewRetention"> = async (deps, request) => {
  const { db, retentionRules: rules } = deps;
  const { schoolId, body, origin } = request;
  const proposal = { subject: { schoolId }, policy: body.policy, rules };
  const query = { schoolIds: [schoolId], until: addDays(origin.at, body.days) };
  const params = givenAt(rules, origin.at);
  return withProposal(db, proposal, origin, async (tx) => {
    const [counts] = await countDue(tx, params, query);
    const first = await listDue(tx, params, { ...query, limit: shownInPreview });
    return { status: 200 as const, body: { count: presentCount(counts!, rules), first: first.map(presentDue) } };
  });
};

export const listRetentionPeople: AdminHandler<"listRetentionPeople"> = async (deps, request) => {
  const { db, retentionRules: rules } = deps;
  const { schoolId, query, origin, page } = request;
  const [dueAt, id] = page.range.after?.split(" ") ?? [];
  const due = await listDue(db.pool, givenAt(rules, origin.at), {
    schoolIds: [schoolId],
    until: addDays(origin.at, query.days ?? rules.noticeDays),
    limit: page.range.limit,
    after: dueAt === undefined ? undefined : { dueAt: new Date(dueAt), id: id as DuePerson["id"] },
  });
  return page.answer(due, presentDue, (due) => `${due.dueAt.toISOString()} ${due.id}`);
};

export const releaseRetention: AdminHandler<"releaseRetention"> = (deps, request) => {
  const { schoolId, body, origin } = request;
  return commitDone(deps, request, (tx) => release(tx, { schoolId, people: body.people }, origin));
};

export const getServiceRetention: AdminHandler<"getServiceRetention"> = async ({ db, retentionRules }) => {
  const { defaults, limits, noticeDays, hold } = retentionRules;
  const body = present("ServiceRetention", {
    defaults,
    limits,
    noticeDays,
    holdPeople: hold.people,
    holdPercent: Math.round(hold.share * 100),
    states: await listStatesWithPolicy(db),
  });
  return answerRecord(body);
};

export const getStateRetention: AdminHandler<"getStateRetention"> = async ({ db }, { query }) =>
  answerRecord(await findPolicy(db, { state: query.state }));

export const putStateRetention: AdminHandler<"putStateRetention"> = (deps, request) => {
  const { body: policy, query, origin } = request;
  const subject = { state: query.state };
  return changeRecord(deps, request, {
    record: (tx) => findPolicy(tx, subject),
    work: (tx) => putPolicy(tx, { subject, policy, rules: deps.retentionRules }, origin),
  });
};

export const previewStateRetention: AdminHandler<"previewStateRetention"> = async (deps, request) => {
  const { db, retentionRules: rules } = deps;
  const { body, origin, page } = request;
  const { state } = request.query;
  const counts = await withProposal(db, { subject: { state }, policy: body.policy, rules }, origin, async (tx) => {
    const schoolIds = await listSchoolsOfState(tx, state, page.range);
    return countDue(tx, givenAt(rules, origin.at), { schoolIds, until: addDays(origin.at, body.days) });
  });
  return page.answer(
    counts,
    (counts) => presentCount(counts, rules),
    ({ schoolId }) => schoolId,
  );
};

const dayOf = (until: Date): string => new Date(until.getTime() - 1).toISOString().slice(0, 10);

export async function readExemption(db: RecordStore, personId: PersonId): Promise<Schemas["RetentionExemption"]> {
  const exemption = await findExemption(db, personId);
  return exemption && present("RetentionExemption", { ...exemption, until: dayOf(exemption.until) });
}

export const getPersonRetention: AdminHandler<"getPersonRetention"> = async (deps, { personId, reach, origin }) => {
  const { db, retentionRules } = deps;
  await getReachedPerson(db, reach, personId);
  const due = await findDue(db.pool, givenAt(retentionRules, origin.at), personId);
  const exemption = await readExemption(db, personId);
  return { status: 200, body: present("PersonRetention", { due, exemption }), headers: { ETag: tagOf({ exemption }) } };
};

export const putRetentionExemption: AdminHandler<"putRetentionExemption"> = (deps, request) => {
  const { personId, reach, body, origin } = request;
  const exemption: RetentionExemption = { until: new Date(`${body.until}T24:00:00Z`), reason: body.reason };
  return changeRecord(deps, request, {
    async touch(tx) {
      await getReachedPerson(tx, reach, personId);
      await lockExemption(tx, personId);
    },
    record: async (tx) => ({ exemption: await readExemption(tx, personId) }),
    work: (tx) => putExemption(tx, personId, exemption, origin),
    effect: "forgets",
  });
};

export const withdrawRetentionExemption: AdminHandler<"withdrawRetentionExemption"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { personId, reach, origin } = request;
    await getReachedPerson(tx, reach, personId);
    await deleteExemption(tx, personId, origin);
  });
