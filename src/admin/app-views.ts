import { appNotFound, findApp, type App, type ClientId } from "../access/index.ts";
import { findGroup, findPerson, type GroupId, type PersonId, type SchoolId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import type { PrismaDb } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { innerOrigin } from "../platform/http/index.ts";
import { isReached } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { reachesSchool } from "./grants.ts";
import type { AdminHandler } from "./handler.ts";
import { groupUnknown } from "./group-record.ts";
import { personUnknown } from "./person-record.ts";
import { reachesApp, schoolUnknown } from "./reached.ts";
import { tagOf } from "./stale.ts";

type AppView = components["schemas"]["AppView"];

/** What an app can ask for of a school. */
export type AppViewResource = "school" | "users" | "groups" | "people" | "group" | "user" | "person" | "personen-info";

type Asked = { schoolId: SchoolId; id: string; search: string };

const idm = "/idm/ep/v1";
const ofSchool = ({ schoolId }: Asked) => `${idm}/schools/${schoolId}`;

const pathOf: Record<AppViewResource, (asked: Asked) => string> = {
  school: ofSchool,
  users: (asked) => `${ofSchool(asked)}/users`,
  groups: (asked) => `${ofSchool(asked)}/groups${asked.search}`,
  people: (asked) => `${ofSchool(asked)}/people${asked.search}`,
  group: ({ id }) => `${idm}/groups/${id}`,
  user: ({ id }) => `${idm}/users/${id}`,
  person: ({ id }) => `${idm}/people/${id}`,
  "personen-info": ({ schoolId }) => `/idm/schulconnex/v1/personen-info?organisation.id=${schoolId}`,
};

const single: readonly AppViewResource[] = ["group", "user", "person"];
const withDeleted: readonly AppViewResource[] = ["groups", "people"];
const withoutPeople: readonly AppViewResource[] = ["school", "groups"];

/** Errors: invalid invalid_request for a parameter that is missing, or not one of the resource. */
function refuseOthers(resource: AppViewResource, { id, search }: { id: string | undefined; search: string }): void {
  if (single.includes(resource) !== (id !== undefined))
    throw new AppError("invalid", "invalid_request", "The query parameter id stands with group, user and person only.");
  if (search !== "" && !withDeleted.includes(resource))
    throw new AppError("invalid", "invalid_request", "The query parameter show-deleted is of groups and people only.");
}

/** Errors: not_found for a group or a person of another school. */
async function refuseOtherSubject(
  db: PrismaDb,
  resource: AppViewResource,
  { schoolId, id }: { schoolId: SchoolId; id: string },
): Promise<void> {
  if (resource === "group") {
    const group = await findGroup(db, id as GroupId);
    if (group?.schoolId !== schoolId) throw groupUnknown();
  } else if (single.includes(resource)) {
    const person = await findPerson(db, id as PersonId);
    if (!person?.schools.some((school) => school.id === schoolId)) throw personUnknown();
  }
}

/** What a token of the app itself can have. Shape: a public app gets none. */
const scopesOf = ({ type, scopes }: App) => new Set(type === "PUBLIC" ? [] : scopes);

const count = (body: string): number => {
  const read: unknown = JSON.parse(body);
  return Array.isArray(read) ? read.length : 1;
};

const getAppView: AdminHandler<"getAppView"> = async ({ db, fetchAsApp }, { path, query, reach, requestId }) => {
  const [schoolId, clientId] = [path.schoolId as SchoolId, path.clientId as ClientId];
  const { resource, id } = query;
  const search = query["show-deleted"] === true ? "?show-deleted=true" : "";
  refuseOthers(resource, { id, search });
  if (!(await reachesSchool({ db }, reach, schoolId))) throw schoolUnknown();
  const isOfSchool = isReached(reach, { schools: [schoolId] });
  const app =
    (isOfSchool && reachesApp(reach, clientId)) || reach.clientIds.has(clientId)
      ? await findApp(db.pool, clientId)
      : null;
  if (app === null) throw appNotFound();
  await refuseOtherSubject(db, resource, { schoolId, id: id ?? "" });
  const asked = pathOf[resource]({ schoolId, id: id ?? "", search });
  const answer = await fetchAsApp({ clientId, scopes: scopesOf(app) }, requestId)(new Request(innerOrigin + asked));
  const body = await answer.text();
  const isSeen = isOfSchool || withoutPeople.includes(resource);
  const shown = present<AppView>({
    path: asked,
    status: answer.status,
    etag: isSeen ? answer.headers.get("etag") : null,
    contentType: answer.headers.get("content-type") ?? "",
    count: answer.status === 200 ? count(body) : null,
    body: isSeen || answer.status !== 200 ? body : null,
  });
  return { status: 200, body: shown, headers: { ETag: tagOf(shown) } };
};

export const appViewHandlers = { getAppView };
