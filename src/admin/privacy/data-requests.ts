import { lockPersonSignIn } from "../../accounts/index.ts";
import * as directory from "../../directory/index.ts";
import type { DataRequest, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { groupsInReach, type Reach } from "../../staff/index.ts";
import { answerRecord, changeRecord, commitCreated, tagOf } from "../change.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { getReachedPerson, keepingSchools, keepsRecord } from "../reached.ts";

type Role = NonNullable<Schemas["DataRequestCloser"]>["role"];

/** Names the person only to those who reach their home school, which may be another one by now. */
export const presentDataRequest = ({ person, closedBy, ...request }: DataRequest, reach: Reach) =>
  present("DataRequest", {
    ...request,
    person: person && keepsRecord(reach, person.homeSchoolId) ? person : null,
    state: request.closedAt === null ? "OPEN" : "CLOSED",
    extension: request.extension ?? "NONE",
    outcome: request.outcome ?? "NONE",
    closedBy: closedBy && { role: closedBy.role as Role, name: closedBy.name },
  });

/** What changes without a change of the request. */
const notState = ["daysLeft", "person"] as const;

const reachesSchool = (reach: Reach, schoolId: SchoolId): boolean =>
  reach.all || (reach.schoolIds.has(schoolId) && groupsInReach(reach, schoolId).all);

const shownOnToday = 5;

/** Reads the requests that are due first. */
export async function readSomeDataRequests(
  db: RecordStore,
  { schoolIds, reach, now }: { schoolIds: readonly SchoolId[]; reach: Reach; now: Date },
) {
  const first = await directory.listDataRequests(db, {
    schoolIds,
    isOpen: true,
    byDueDay: true,
    limit: shownOnToday,
    now,
  });
  return present("SomeDataRequests", {
    ...(await directory.countDataRequests(db, { schoolIds, now })),
    first: first.map((one) => presentDataRequest(one, reach)),
  });
}

export const listDataRequests: AdminHandler<"listDataRequests"> = async (deps, request) => {
  const { query, reach, origin, page } = request;
  const { school: schoolId, person: personId } = query;
  const reached = reach.all ? null : keepingSchools(reach);
  const schoolIds = schoolId === undefined ? reached : [schoolId].filter((id) => reachesSchool(reach, id));
  const isOpen = query.state === undefined ? undefined : query.state === "OPEN";
  const requests = await directory.listDataRequests(deps.db, {
    schoolIds,
    personId,
    isOpen,
    now: origin.at,
    ...page.range,
  });
  return page.answer(requests, (one) => presentDataRequest(one, reach));
};

/** Errors: not_found data_request_not_found if out of reach. */
function refuseOthers(request: DataRequest, reach: Reach): DataRequest {
  if (reachesSchool(reach, request.schoolId)) return request;
  throw new AppError("not_found", "data_request_not_found", "There is no such data request.");
}

export const getDataRequest: AdminHandler<"getDataRequest"> = async ({ db }, { dataRequestId, reach, origin }) => {
  const dataRequest = refuseOthers(await directory.getDataRequest(db, dataRequestId, origin.at), reach);
  return answerRecord(presentDataRequest(dataRequest, reach), notState);
};

export const createDataRequest: AdminHandler<"createDataRequest"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { personId, reach, origin } = request;
    await lockPersonSignIn(tx, personId);
    const { homeSchoolId: schoolId } = await getReachedPerson(tx, reach, personId);
    if (schoolId === null)
      throw new AppError("conflict", "no_home_school", "The person has no home school that could answer.");
    const id = await directory.recordDataRequest(tx, { personId, schoolId, ...request.body }, origin);
    const body = presentDataRequest(await directory.getDataRequest(tx, id, origin.at), reach);
    return { body, location: `/admin/v1/data-requests/${id}`, recorded: null, tag: tagOf(body, notState) };
  });

export const updateDataRequest: AdminHandler<"updateDataRequest"> = (deps, request) => {
  const { dataRequestId: id, body, reach, origin, caller } = request;
  const read = async (tx: RecordStore) => refuseOthers(await directory.getDataRequest(tx, id, origin.at), reach);
  return changeRecord(deps, request, {
    touch: read,
    record: async (tx) => presentDataRequest(await read(tx), reach),
    async work(tx) {
      const open = await directory.getOpenDataRequest(tx, id, origin.at);
      if (body.extension !== undefined) await directory.extendDataRequest(tx, open, body.extension, origin);
      if (body.outcome !== undefined)
        await directory.closeDataRequest(tx, open, body.outcome, { ...origin, closedById: caller.personId });
    },
    without: notState,
    effect: "forgets",
    answer: ({ after, headers }) => ({ status: 200 as const, body: after!, headers }),
  });
};
