import type { ClientId } from "../../access/index.ts";
import { listOpenHandovers, personNameOf, type Handover, type SchoolId } from "../../directory/index.ts";
import { findSomeFailing } from "../../connections/index.ts";
import { addDays } from "../../platform/clock.ts";
import { present } from "../../platform/contract-types.ts";
import { storeOf } from "../../platform/database/db.ts";
import { answerRecord } from "../change.ts";
import { findSomeDue, givenAt, listRetentionHolds, type DuePerson, type RetentionHold } from "../../retention/index.ts";
import { readSomeDataRequests } from "../privacy/data-requests.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { findSomeImports } from "../../imports/index.ts";
import { importReach } from "../imports/import-record.ts";
import { presentFailing } from "../imports/roster-connections.ts";
import { presentHandover } from "../schools/handovers.ts";
import { refuseUnknownSchool } from "../reached.ts";
import { presentDue } from "../schools/retention.ts";
import { readSchoolLoginTasks } from "./today-logins.ts";
import { mapFirst, shownOfEach, type Some } from "./today-some.ts";
import { findToday, type TodayFound } from "./today-sql.ts";

const dayMs = 86_400_000;
const leaverDays = 7;
const unusedDays = 90;

const presentNamed = (person: TodayFound["withoutLogin"]["first"][number]) =>
  present<Schemas["NamedPerson"]>({ id: person.id, name: personNameOf(person) });

type FoundAtSchools = TodayFound & {
  handovers: Some<Handover>;
  retentionHolds: Some<RetentionHold>;
  retentionSoon: Some<DuePerson>;
  dataRequests: Schemas["SomeDataRequests"];
};

/** The tasks at the caller's schools; `isOne` adds the first steps of a single school. */
function presentSchools(found: FoundAtSchools, isOne: boolean): Schemas["TodayAtSchools"] {
  const { passwordRequests, withoutLogin, neverSignedIn, newLeavers, unusedApps, openAgreements } = found;
  const { students, studentsWithLogin, hasApps } = found;
  const steps = present<NonNullable<Schemas["FirstSteps"]>>({
    hasPeople: students > 0,
    hasLogins: studentsWithLogin > 0,
    hasApps,
    students,
    studentsWithLogin,
  });
  return present<NonNullable<Schemas["TodayAtSchools"]>>({
    passwordRequests: mapFirst(passwordRequests, ({ schoolId, schoolName, requestedAt, ...person }) =>
      present<Schemas["PasswordRequest"]>({ ...presentNamed(person), schoolId, schoolName, requestedAt }),
    ),
    withoutLogin: mapFirst(withoutLogin, presentNamed),
    neverSignedIn,
    newLeavers: mapFirst(newLeavers, ({ softDeletedAt, ...person }) =>
      present<Schemas["Leaver"]>({ ...presentNamed(person), softDeletedAt }),
    ),
    unusedApps,
    openAgreements,
    handovers: mapFirst(found.handovers, presentHandover),
    retentionHolds: mapFirst(found.retentionHolds, (one) => present<Schemas["RetentionHold"]>(one)),
    retentionSoon: mapFirst(found.retentionSoon, presentDue),
    dataRequests: found.dataRequests,
    firstSteps: isOne ? steps : null,
  });
}

/** The imports that wait at the chosen school, or at all in reach, and the held ones among them. */
async function findImportTasks({ db }: AdminDeps, { query, reach, origin }: AdminRequest<"getToday">) {
  const among = importReach({ reach, origin });
  const asked = { among, limit: shownOfEach, ...(query.school !== undefined && { schoolIds: [query.school] }) };
  const [waiting, held] = await Promise.all([
    findSomeImports(db.pool, { ...asked, isWaiting: true }),
    findSomeImports(db.pool, { ...asked, state: "HELD" }),
  ]);
  return {
    waitingImports: mapFirst(waiting, (one) => present<Schemas["WaitingImport"]>(one)),
    heldImports: mapFirst(held, ({ id, fileName, createdAt }) =>
      present<Schemas["HeldImport"]>({ id, fileName, createdAt }),
    ),
  };
}

async function findRetentionTasks({ db, retentionRules }: AdminDeps, schoolIds: readonly SchoolId[], now: Date) {
  const holds = await listRetentionHolds(db, schoolIds);
  const query = { schoolIds, until: addDays(now, retentionRules.noticeDays) };
  const soon = await findSomeDue(db.pool, givenAt(retentionRules, now), query);
  return { retentionHolds: { count: holds.length, first: holds.slice(0, shownOfEach) }, retentionSoon: soon };
}

export const getToday: AdminHandler<"getToday"> = async (deps, request) => {
  const { query, reach, origin } = request;
  const { db, erasureOverdueDays, restoreWindowDays } = deps;
  const chosen = query.school;
  if (chosen !== undefined) await refuseUnknownSchool(storeOf(db), reach, chosen);
  const schoolIds = chosen === undefined ? [...reach.schoolIds] : [chosen];
  const before = (days: number) => new Date(origin.at.getTime() - days * dayMs);
  const ofAll = reach.all && chosen === undefined;
  const clientIds: ClientId[] = [...reach.clientIds];
  const handovers = await listOpenHandovers(db, { schoolIds, limit: shownOfEach, now: origin.at });
  const retention = await findRetentionTasks(deps, schoolIds, origin.at);
  const dataRequests = await readSomeDataRequests(db, { schoolIds, reach, now: origin.at });
  const found = await findToday(db.pool, {
    schoolIds,
    endpointsOf: reach.all ? null : clientIds,
    erasuresOf: ofAll ? null : chosen === undefined ? clientIds : [],
    overdueBefore: before(erasureOverdueDays),
    waitDays: restoreWindowDays,
    leftSince: before(leaverDays),
    unusedSince: before(unusedDays),
  });
  const rosterConnections =
    ofAll || schoolIds.length > 0
      ? await findSomeFailing(db, {
          among: reach.all ? undefined : [...reach.schoolIds],
          ...(!ofAll && { atSchools: schoolIds }),
          limit: shownOfEach,
        })
      : null;
  const noImports = { waitingImports: null, heldImports: null };
  const body = present<Schemas["Today"]>({
    ...(ofAll || schoolIds.length > 0 ? await findImportTasks(deps, request) : noImports),
    rosterConnections: rosterConnections && mapFirst(rosterConnections, presentFailing),
    atSchools:
      schoolIds.length > 0
        ? presentSchools({ ...found, handovers, ...retention, dataRequests }, schoolIds.length === 1)
        : null,
    failingEndpoints: reach.all || clientIds.length > 0 ? found.failingEndpoints : null,
    overdueErasures: found.overdueErasures,
    schoolLogins:
      ofAll || schoolIds.length > 0
        ? await readSchoolLoginTasks(db.pool, { schoolIds: ofAll ? null : schoolIds, now: origin.at })
        : null,
  });
  return answerRecord(body);
};
