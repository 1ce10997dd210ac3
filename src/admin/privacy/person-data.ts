import { listAppsOfPerson, listReportsOf, listDisclosures, type Disclosure } from "../../access/index.ts";
import { findPerson, listDataRequests, noteExport, type PersonId, type SchoolId } from "../../directory/index.ts";
import { listAudit, listEventsOf, personActor, type RecordedAudit } from "../../events/index.ts";
import { listPersonImports } from "../../imports/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { etagOf, mapInSlices, startExport, stringifyInSlices, type InTurn } from "../../platform/http/index.ts";
import { recordAtHome } from "../../accounts/index.ts";
import * as signOn from "../../sign-on/index.ts";
import type { StoredEntry } from "../../sign-on/index.ts";
import { everything, isReached, listRoles, type Reach } from "../../staff/index.ts";
import { listDeliveriesOf, type DeliveryOfSubject } from "../../webhooks/index.ts";
import { findLineNames, presentLine } from "./audit.ts";
import { presentDataRequest } from "./data-requests.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { findSchoolNames } from "../names.ts";
import { readLogin } from "../people/logins.ts";
import { presentPersonImport, schoolsOf } from "../imports/imports.ts";
import { readExemption, readPeriods } from "../schools/retention.ts";
import { readPerson } from "../people/person-record.ts";
import { presentAppOfPerson, presentConsent, presentSession } from "../people/sessions.ts";
import { presentRole } from "../staff/staff.ts";
import { getReachedPerson } from "../reached.ts";

/** Limit for deliveries of one person. */
const mostDeliveries = 1000;

type Known = { schools: ReadonlyMap<string, string>; deliveries: readonly DeliveryOfSubject[] };

function presentDisclosure({ periods, ...one }: Disclosure, reach: Reach, { schools, deliveries }: Known) {
  const sent = deliveries.find(({ clientId, state }) => clientId === one.clientId && state === "DELIVERED");
  const named = (id: SchoolId): { id: SchoolId; name: string }[] => {
    const name = schools.get(id);
    return name !== undefined && isReached(reach, { schools: [id] }) ? [{ id, name }] : [];
  };
  const isOlder = (since: Date): boolean => since <= one.recordedSince;
  return present("Disclosure", {
    ...one,
    periods: periods.map(({ since, until, attributes, schoolIds, agreed }) => ({
      since: isOlder(since) ? null : since,
      until,
      attributes,
      schools: schoolIds.flatMap(named),
      agreements: agreed.flatMap(({ schoolId, since: acceptedAt, ...agreement }) =>
        named(schoolId).map((school) => ({ ...agreement, acceptedAt, school })),
      ),
    })),
    lastSentAt: sent?.finishedAt ?? null,
  });
}

type DisclosureQuery = { personId: PersonId; now: Date; reach: Reach; deliveries: readonly DeliveryOfSubject[] };

/** What apps could learn about the person, with a function that presents it. */
export async function readDisclosures(db: PrismaDb, { personId, now, reach, deliveries }: DisclosureQuery) {
  const disclosures = await listDisclosures(db.pool, { personId, now });
  const ids = disclosures.flatMap(({ periods }) => periods.flatMap(({ schoolIds }) => schoolIds));
  const known = { schools: await findSchoolNames(db, ids), deliveries };
  return { found: disclosures, presentOne: (one: Disclosure) => presentDisclosure(one, reach, known) };
}

export const listDisclosuresOfPerson: AdminHandler<"listDisclosuresOfPerson"> = async (deps, request) => {
  const { personId, reach, origin, page } = request;
  await getReachedPerson(deps.db, reach, personId);
  const deliveries = await listDeliveriesOf(deps.db.pool, { subjectId: personId, limit: mostDeliveries });
  const { found, presentOne } = await readDisclosures(deps.db, { personId, now: origin.at, reach, deliveries });
  return page.answerFrom(found, presentOne, ({ place }) => place);
};

/** Limit for audit lines and times. */
const most = 10_000;
const linesAtOnce = 500;

async function readLines(
  db: Pick<PrismaDb, "pool">,
  whose: { personId: PersonId } | { actorId: string },
  inTurn: InTurn,
): Promise<RecordedAudit[]> {
  const lines: RecordedAudit[] = [];
  for (let isWhole = false; !isWhole && lines.length < most;) {
    const last = lines.at(-1);
    const after = last && { after: { at: last.at, id: last.id } };
    const page = await inTurn(() => listAudit(db.pool, { ...whose, limit: linesAtOnce, ...after }));
    lines.push(...page);
    isWhole = page.length < linesAtOnce;
  }
  return lines;
}

const presentEntry = (entry: StoredEntry) => present("StoredEntry", entry);
const presentTime = (entry: { clientId: string | null; at: Date; what: string; until: Date | null }) =>
  present("StoredEntry", { ...entry, lastUsedAt: null, schoolId: null });

const presentReport = (report: Awaited<ReturnType<typeof listReportsOf>>[number]) => {
  const { type, identifier, trial, reportedAt: at, until, clientId, schoolId } = report;
  const what = [type, trial && "TRIAL", identifier].filter(Boolean).join(" ");
  return present("StoredEntry", { what, at, lastUsedAt: null, until, clientId, schoolId });
};

// Who of the staff did something is not the person's data (European Court of Justice, C-579/21); in which role is.
const withoutCloser = ({ closedBy, ...request }: Schemas["DataRequest"]): Schemas["DataRequest"] => ({
  ...request,
  closedBy: closedBy && { ...closedBy, name: null },
});

function withoutActor(line: Schemas["AuditLine"], self: PersonId): Schemas["AuditLine"] {
  const { actor, names } = line;
  if (actor.personId === self) return line;
  return { ...line, actor: { ...actor, personId: null }, names: { ...names, actor: null } };
}

const seenBy = (reach: Reach, schoolId: string | null): boolean =>
  schoolId === null || isReached(reach, { schools: [schoolId as SchoolId] });

export const getPersonData: AdminHandler<"getPersonData"> = async (deps, { personId, reach, origin, connection }) => {
  const { db } = deps;
  const inTurn = startExport({ by: origin.actorId, caller: connection });
  const person = await readPerson(db, reach, personId);
  const homeSchoolId = person.homeSchoolId as SchoolId | null;
  const stored = await findPerson(db, personId);
  const [apps, consents, chosen] = [
    await listAppsOfPerson(db.pool, { personId, now: origin.at }),
    await signOn.listConsents(db, personId),
    await signOn.listChosenSchools(db, personId),
  ];
  const deliveries = await inTurn(() => listDeliveriesOf(db.pool, { subjectId: personId, limit: most }));
  const params = { personId, now: origin.at, reach, deliveries };
  const schoolIds = schoolsOf(reach);
  const requests = await listDataRequests(db, { schoolIds: schoolIds ?? null, personId, limit: most, now: origin.at });
  const disclosures = await inTurn(() => readDisclosures(db, params));
  const { userNames, recoveryCodes, ...lists } = await signOn.readSignOnData(db, personId);
  const roles = { personId, reach: everything, now: origin.at, withEnded: true, limit: most };
  const isSeen = ({ schoolId }: RecordedAudit) => seenBy(reach, schoolId);
  const lines = (await readLines(db, { personId }, inTurn)).filter(isSeen);
  const actions = (await readLines(db, { actorId: personActor(personId) }, inTurn)).filter(isSeen);
  const names = await inTurn(() => findLineNames({ db }, reach, [...lines, ...actions]));
  const entries = (of: StoredEntry[]) => of.filter(({ schoolId }) => seenBy(reach, schoolId)).map(presentEntry);
  const body: Schemas["PersonData"] = {
    madeAt: origin.at.toISOString(),
    isComplete: stored?.schools.every(({ id }) => seenBy(reach, id)) ?? true,
    retention: await readPeriods(deps, homeSchoolId),
    exemption: await readExemption(db, personId),
    person,
    login: await readLogin(db, personId, origin.at),
    userNames,
    recoveryCodes,
    apps: apps.map((app) => presentAppOfPerson(app, reach, { consents, chosen, isGuest: false })),
    disclosures: disclosures.found.map(disclosures.presentOne),
    accessReports: (await listReportsOf(db, personId))
      .filter(({ schoolId }) => seenBy(reach, schoolId))
      .map(presentReport),
    consents: consents.map(presentConsent),
    sessions: (await signOn.listSessions(deps, { personId, now: origin.at })).map(presentSession),
    schoolChoices: entries(lists.schoolChoices),
    knownDevices: entries(lists.knownDevices),
    failedTries: entries(lists.failedTries),
    secondFactors: entries(lists.secondFactors),
    loginCards: entries(lists.loginCards),
    pictureCodes: entries(lists.pictureCodes),
    upstreamAccounts: entries(lists.upstreamAccounts),
    // The home school is who is asked, also by schools that it does not reach.
    passwordRequests: lists.passwordRequests.map(presentEntry),
    dataRequests: requests.map((one) => withoutCloser(presentDataRequest(one, reach))),
    logoutNotices: entries(lists.logoutNotices),
    staffRoles: (await listRoles(db, roles)).map(presentRole),
    imports: (await inTurn(() => listPersonImports(db, { personId, schoolIds, limit: most }))).map(presentPersonImport),
    audit: await mapInSlices(lines, (line) => withoutActor(presentLine(line, true, names), personId), inTurn),
    actions: await mapInSlices(actions, (line) => presentLine(line, false, names), inTurn),
    events: (await inTurn(() => listEventsOf(db, { subjectId: personId, limit: most }))).map(
      ({ at, clientId, action: what }) => presentTime({ clientId, at, what, until: null }),
    ),
    deliveries: deliveries.map(({ clientId, at, state: what, finishedAt: until }) =>
      presentTime({ clientId, at, what, until }),
    ),
  };
  await withPrismaTransaction(db, async (tx) => {
    await recordAtHome(tx, { ...origin, action: "person_data_read", personId });
    if (homeSchoolId !== null) await noteExport(tx, { personId, schoolId: homeSchoolId, at: origin.at });
  });
  const { madeAt: _madeAt, audit: _audit, ...state } = body;
  return { status: 200, body, headers: { ETag: etagOf(await stringifyInSlices(state, inTurn)) } };
};
