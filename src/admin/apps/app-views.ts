import * as access from "../../access/index.ts";
import type { App, ClientId } from "../../access/index.ts";
import { findGroup, findPerson, type GroupId, type PersonId, type SchoolId } from "../../directory/index.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { innerOrigin } from "../../platform/http/index.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { answerRecord } from "../change.ts";
import { reachesSchool } from "./grants.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { groupUnknown } from "../groups/groups.ts";
import { invalidRequest } from "../page.ts";
import { reachesApp, schoolUnknown, personUnknown } from "../reached.ts";

type AppViewResource = Schemas["AppViewResource"];

type Target = { schoolId: SchoolId; id: string; search: string };

const idm = "/idm/ep/v1";
const ofSchool = ({ schoolId }: Target) => `${idm}/schools/${schoolId}`;

const pathOf: Record<AppViewResource, (target: Target) => string> = {
  school: ofSchool,
  users: (target) => `${ofSchool(target)}/users`,
  groups: (target) => `${ofSchool(target)}/groups${target.search}`,
  people: (target) => `${ofSchool(target)}/people${target.search}`,
  group: ({ id }) => `${idm}/groups/${id}`,
  user: ({ id }) => `${idm}/users/${id}`,
  person: ({ id }) => `${idm}/people/${id}`,
  "personen-info": ({ schoolId }) => `/idm/schulconnex/v1/personen-info?organisation.id=${schoolId}`,
};

const single: readonly AppViewResource[] = ["group", "user", "person"];
const withDeleted: readonly AppViewResource[] = ["groups", "people"];
const withoutPeople: readonly AppViewResource[] = ["school", "groups"];
/** Resources whose records list all schools or groups of a person that the app sees. */
const ofPeople: readonly AppViewResource[] = ["users", "people", "user", "person", "personen-info"];

/** Errors: invalid invalid_request for a missing parameter, or one that the resource does not have. */
function refuseOthers(resource: AppViewResource, { id, search }: { id: string | undefined; search: string }): void {
  if (single.includes(resource) !== (id !== undefined))
    throw invalidRequest(
      "The query parameter id is required for group, user and person, and allowed for no other resource.",
    );
  if (search !== "" && !withDeleted.includes(resource))
    throw invalidRequest("The query parameter show-deleted is allowed for groups and people only.");
}

/** Errors: not_found group_not_found, person_not_found for a subject of another school, and for one that `isHidden`. */
async function refuseOtherSubject(
  db: PrismaDb,
  resource: AppViewResource,
  { schoolId, id, isHidden }: { schoolId: SchoolId; id: string | null; isHidden: boolean },
): Promise<void> {
  if (resource === "group") {
    const group = await findGroup(db, id as GroupId);
    if (isHidden || group?.schoolId !== schoolId) throw groupUnknown();
  } else if (single.includes(resource)) {
    const person = id === null ? null : await findPerson(db, id as PersonId);
    if (isHidden || !person?.schools.some((school) => school.id === schoolId)) throw personUnknown();
  }
}

/** What a client credentials token of the app would say. A public app gets no scopes. */
export const callerOf = async (db: PrismaDb, { clientId, type, scopes, sector }: App) => ({
  clientId,
  scopes: new Set(type === "PUBLIC" ? [] : scopes),
  namesRead: await access.findNamesRead(db.pool, clientId),
  ids: sector === null ? ("shared" as const) : ("own" as const),
});

/** A record counts as one; the changes and the roster are lists with names. */
export function countRecords(body: string): number {
  const read = JSON.parse(body) as unknown[] | Record<string, unknown>;
  if (Array.isArray(read)) return read.length;
  if ("id" in read) return 1;
  return Object.values(read).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

/** The tag of the app's answer says all of a body that can be long. */
export const answerShown = <View extends { etag: string | null; body: string | null }>(view: View) =>
  answerRecord(view, view.etag === null ? [] : ["body"]);

/** Resources whose records have the source system identifier, which belongs to the home school. */
const withSourceId: readonly AppViewResource[] = ["people", "person"];

/**
 * Lists, by the app's ids, people whose records say more than the caller sees: those who are also at a school that
 * only the app sees, and with `ofGuests` those whose home school the caller does not reach.
 */
async function listOfOthers(
  db: PrismaDb,
  reach: Reach,
  { schoolId, clientId, ofGuests }: { schoolId: SchoolId; clientId: ClientId; ofGuests: boolean },
): Promise<ReadonlySet<string>> {
  if (reach.all) return new Set();
  const schoolIds = { notIn: [...reach.schoolIds] };
  const beyond = { schoolId: schoolIds, school: { grants: { some: { clientId, sync: true } } } };
  const isBeyond = { affiliations: { some: beyond } };
  const isGuest = { homeSchoolId: schoolIds, sourceSystemIdentifier: { not: null } };
  const affiliations = await db.prisma.affiliation.findMany({
    where: { schoolId, person: { OR: ofGuests ? [isBeyond, isGuest] : [isBeyond] } },
    select: { personId: true },
  });
  return new Set(
    await access.listAppIds(db.pool, { clientId, personIds: affiliations.map(({ personId }) => personId as PersonId) }),
  );
}

type Named = { resource: AppViewResource; clientId: ClientId; id: string; isOfSchool: boolean };

/** Staff of the school name a person by the service's id, a partner by the app's, which tells them no other id. */
async function readIds({ pool }: PrismaDb, { resource, clientId, id, isOfSchool }: Named) {
  if (resource !== "user" && resource !== "person") return { id, appId: id };
  if (!isOfSchool) return { id: await access.findPersonByAppId(pool, { clientId, id }), appId: id };
  const [appId = ""] = await access.listAppIds(pool, { clientId, personIds: [id as PersonId] });
  return { id, appId };
}

type NamedRecord = { id?: string; pid?: string };

/** Removes these records; returns the same text if there are none. */
function leaveOut(body: string, others: ReadonlySet<string>): { body: string | null; leftOut: number } {
  if (others.size === 0) return { body, leftOut: 0 };
  const read = JSON.parse(body) as NamedRecord | NamedRecord[];
  const isOther = (record: NamedRecord) => others.has(record.id ?? record.pid ?? "");
  if (!Array.isArray(read)) return isOther(read) ? { body: null, leftOut: 1 } : { body, leftOut: 0 };
  const shownRecords = read.filter((record) => !isOther(record));
  const leftOut = read.length - shownRecords.length;
  return { body: leftOut === 0 ? body : JSON.stringify(shownRecords), leftOut };
}

export const getAppView: AdminHandler<"getAppView"> = async (
  { db, fetchAsApp },
  { schoolId, clientId, query, reach, requestId },
) => {
  const { resource } = query;
  const search = query["show-deleted"] === true ? "?show-deleted=true" : "";
  refuseOthers(resource, { id: query.id, search });
  if (!(await reachesSchool({ db }, reach, schoolId))) throw schoolUnknown();
  const isOfSchool = isReached(reach, { schools: [schoolId] });
  const app =
    (isOfSchool && reachesApp(reach, clientId)) || reach.clientIds.has(clientId)
      ? await access.findApp(db.pool, clientId)
      : null;
  if (app === null) throw access.appNotFound();
  const { id, appId } = await readIds(db, { resource, clientId: app.clientId, id: query.id ?? "", isOfSchool });
  const url = pathOf[resource]({ schoolId, id: appId, search });
  const fetchApi = fetchAsApp(await callerOf(db, app), requestId);
  const answer = await fetchApi(new Request(innerOrigin + url));
  const isHidden = !isOfSchool && answer.status === 404;
  // What the app may ask at all does not depend on the id.
  if (isOfSchool || answer.status === 200 || isHidden)
    await refuseOtherSubject(db, resource, { schoolId, id, isHidden });
  const body = await answer.text();
  const isSeen = isOfSchool || withoutPeople.includes(resource);
  const ofOthers = isSeen && answer.status === 200 && ofPeople.includes(resource);
  const ofGuests = withSourceId.includes(resource) && app.attributes.includes("SOURCE_SYSTEM_IDENTIFIER");
  const others = ofOthers ? await listOfOthers(db, reach, { schoolId, clientId, ofGuests }) : new Set<string>();
  const { leftOut, body: text } = leaveOut(body, others);
  const view = present("AppView", {
    path: url,
    status: answer.status,
    etag: isSeen && leftOut === 0 ? answer.headers.get("etag") : null,
    contentType: answer.headers.get("content-type") ?? "",
    count: answer.status === 200 ? countRecords(body) : null,
    leftOut,
    body: isSeen || answer.status !== 200 ? text : null,
  });
  return answerShown(view);
};
