import type { ClientId } from "../access/index.ts";
import { listOpenHandovers, personNameOf, type Handover, type SchoolId } from "../directory/index.ts";
import { addDays } from "../platform/clock.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import { tagOf } from "./change.ts";
import { findSomeDue, givenAt, listRetentionHolds, type DuePerson, type RetentionHold } from "../retention/index.ts";
import type { AdminDeps, AdminHandler, Schemas } from "./handler.ts";
import { presentHandover } from "./handovers.ts";
import { refuseUnknownSchool } from "./reached.ts";
import { presentDue } from "./retention.ts";
import { readSchoolLoginTasks } from "./today-logins.ts";
import { mapFirst, timeOf, type Some } from "./today-some.ts";
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
    passwordRequests: present<Schemas["SomePasswordRequests"]>(
      mapFirst(passwordRequests, (one) => {
        const { schoolId, schoolName } = one;
        const requestedAt = timeOf(one.requestedAt);
        return present<Schemas["PasswordRequest"]>({ ...presentNamed(one), schoolId, schoolName, requestedAt });
      }),
    ),
    withoutLogin: present<Schemas["SomePeople"]>(mapFirst(withoutLogin, presentNamed)),
    neverSignedIn,
    newLeavers: present<Schemas["SomeLeavers"]>(
      mapFirst(newLeavers, (one) =>
        present<Schemas["Leaver"]>({ ...presentNamed(one), softDeletedAt: timeOf(one.softDeletedAt) }),
      ),
    ),
    unusedApps: present<Schemas["SomeUnusedApps"]>(
      mapFirst(unusedApps, (one) => present<Schemas["UnusedApp"]>({ ...one })),
    ),
    openAgreements: present<Schemas["SomeOpenAgreements"]>(
      mapFirst(openAgreements, (one) => present<Schemas["OpenAgreement"]>({ ...one })),
    ),
    handovers: present<Schemas["SomeHandovers"]>(mapFirst(found.handovers, presentHandover)),
    retentionHolds: present<Schemas["SomeRetentionHolds"]>(
      mapFirst(found.retentionHolds, (one) => present<Schemas["RetentionHold"]>(one)),
    ),
    retentionSoon: present<Schemas["SomeDuePeople"]>(mapFirst(found.retentionSoon, presentDue)),
    firstSteps: isOne ? steps : null,
  });
}

const presentImports = (imports: TodayFound["heldImports"]) =>
  present<NonNullable<Schemas["SomeImports"]>>(
    mapFirst(imports, ({ id, fileName, createdAt }) =>
      present<Schemas["HeldImport"]>({ id, fileName, createdAt: timeOf(createdAt) }),
    ),
  );

const presentEndpoints = (endpoints: TodayFound["failingEndpoints"]) =>
  present<NonNullable<Schemas["SomeEndpoints"]>>(
    mapFirst(endpoints, ({ failingSince, ...one }) =>
      present<Schemas["FailingEndpoint"]>({ ...one, failingSince: failingSince && timeOf(failingSince) }),
    ),
  );

const presentErasures = (erasures: TodayFound["overdueErasures"]) =>
  present<Schemas["SomeOverdueErasures"]>(
    mapFirst(erasures, ({ openSince, ...one }) =>
      present<Schemas["OverdueErasures"]>({ ...one, openSince: timeOf(openSince) }),
    ),
  );

const shownHandovers = 5;

async function findRetentionTasks({ db, retentionRules }: AdminDeps, schoolIds: readonly SchoolId[], now: Date) {
  const holds = await listRetentionHolds(db, schoolIds);
  const query = { schoolIds, until: addDays(now, retentionRules.noticeDays) };
  const soon = await findSomeDue(db.pool, givenAt(retentionRules, now), query);
  return { retentionHolds: { count: holds.length, first: holds.slice(0, shownHandovers) }, retentionSoon: soon };
}

export const getToday: AdminHandler<"getToday"> = async (deps, { query, reach, origin }) => {
  const { db, erasureOverdueDays, restoreWindowDays } = deps;
  const chosen = query.school;
  if (chosen !== undefined) await refuseUnknownSchool(storeOf(db), reach, chosen);
  const schoolIds = chosen === undefined ? [...reach.schoolIds] : [chosen];
  const before = (days: number) => new Date(origin.at.getTime() - days * dayMs);
  const ofAll = reach.all && chosen === undefined;
  const clientIds: ClientId[] = [...reach.clientIds];
  const handovers = await listOpenHandovers(db, { schoolIds, limit: shownHandovers, now: origin.at });
  const retention = await findRetentionTasks(deps, schoolIds, origin.at);
  const found = await findToday(db.pool, {
    schoolIds,
    importsOf: ofAll ? null : schoolIds,
    endpointsOf: reach.all ? null : clientIds,
    erasuresOf: ofAll ? null : chosen === undefined ? clientIds : [],
    overdueBefore: before(erasureOverdueDays),
    waitDays: restoreWindowDays,
    leftSince: before(leaverDays),
    unusedSince: before(unusedDays),
  });
  const body = present<Schemas["Today"]>({
    heldImports: ofAll || schoolIds.length > 0 ? presentImports(found.heldImports) : null,
    atSchools:
      schoolIds.length > 0 ? presentSchools({ ...found, handovers, ...retention }, schoolIds.length === 1) : null,
    failingEndpoints: reach.all || clientIds.length > 0 ? presentEndpoints(found.failingEndpoints) : null,
    overdueErasures: presentErasures(found.overdueErasures),
    schoolLogins:
      ofAll || schoolIds.length > 0
        ? await readSchoolLoginTasks(db.pool, { schoolIds: ofAll ? null : schoolIds, now: origin.at })
        : null,
  });
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};
