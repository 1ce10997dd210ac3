import type { ClientId } from "../../access/index.ts";
import { listOpenHandovers, personNameOf, type Handover, type SchoolId } from "../../directory/index.ts";
import { findSomeFailing } from "../../connections/index.ts";
import { addDays } from "../../platform/clock.ts";
import { answerRecord } from "../change.ts";
import { findSomeDue, givenAt, listRetentionHolds, type DuePerson, type RetentionHold } from "../../retention/index.ts";
import { readSomeDataRequests } from "../privacy/data-requests.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { findSomeImports } from "../../imports/index.ts";
import { importReach } from "../imports/import-record.ts";
import { presentFailing } from "../imports/roster-connections.ts";
import { readSchoolLoginTasks } from "./today-sql.ts";
import { mapFirst, shownOfEach, type Some } from "./today-sql.ts";
import { findToday, type TodayFound } from "./today-sql.ts";

const dayMs = 86_400_000;
const leaverDays = 7;
const unusedDays = 90;

type FoundAtSchools = TodayFound & {
  handovers: Some<Handover>;
  retentionHolds: Some<RetentionHold>;
  retentionSoon: Some<DuePerson>;
  dataRequests: Schemas["SomeDataRequests"];
};

/** The tasks at the caller's schools; `isOne` adds the first steps of a single school. */
function presentSchools(schools: FoundAtSchools, isOne: boolean): Schemas["TodayAtSchools"] {
  const { students, studentsWithLogin, retentionSoon } = schools;
  const firstSteps = { ...schools, hasPeople: students > 0, hasLogins: studentsWithLogin > 0 };
  return present("TodayAtSchools", {
    ...schools,
    retentionSoon: mapFirst(retentionSoon, (due) => ({ ...due, name: personNameOf(due) })),
    firstSteps: isOne ? firstSteps : null,
  });
}

/** The imports that wait at the chosen school, or at all in reach, and the held ones among them. */
async function findImportTasks({ db }: AdminDeps, { query, reach, origin }: AdminRequest<"getToday">) {
  const among = importReach({ reach, origin });
  const filter = { among, limit: shownOfEach, ...(query.school !== undefined && { schoolIds: [query.school] }) };
  const [waiting, held] = await Promise.all([
    findSomeImports(db.pool, { ...filter, isWaiting: true }),
    findSomeImports(db.pool, { ...filter, state: "HELD" }),
  ]);
  return { waitingImports: waiting, heldImports: held };
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
  const schoolIds = chosen === undefined ? [...reach.schoolIds] : [chosen];
  const before = (days: number) => new Date(origin.at.getTime() - days * dayMs);
  const ofAll = reach.all && chosen === undefined;
  const clientIds: ClientId[] = [...reach.clientIds];
  const handovers = await listOpenHandovers(db, { schoolIds, limit: shownOfEach, now: origin.at });
  const retention = await findRetentionTasks(deps, schoolIds, origin.at);
  const dataRequests = await readSomeDataRequests(db, { schoolIds, reach, now: origin.at });
  const tasks = await findToday(db.pool, {
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
  const body = present("Today", {
    ...(ofAll || schoolIds.length > 0 ? await findImportTasks(deps, request) : noImports),
    rosterConnections: rosterConnections && mapFirst(rosterConnections, presentFailing),
    atSchools:
      schoolIds.length > 0
        ? presentSchools({ ...tasks, handovers, ...retention, dataRequests }, schoolIds.length === 1)
        : null,
    failingEndpoints: reach.all || clientIds.length > 0 ? tasks.failingEndpoints : null,
    overdueErasures: tasks.overdueErasures,
    schoolLogins:
      ofAll || schoolIds.length > 0
        ? await readSchoolLoginTasks(db.pool, { schoolIds: ofAll ? null : schoolIds, now: origin.at })
        : null,
  });
  return answerRecord(body);
};
