import type { OpenDb } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Kind, LookUp } from "./names.ts";

type Find = (db: OpenDb, text: string, schoolId: string | undefined) => Promise<string>;

const notFound = (code: string, message: string) => new AppError("not_found", code, message);

const findSchool: Find = async (db, officialId) => {
  const { findSchoolId } = await import("../directory/index.ts");
  const id = await findSchoolId(db, officialId);
  if (id === null) throw notFound("school_not_found", `No school has the official id '${officialId}'.`);
  return id;
};

const findPerson: Find = async (db, username) => {
  const { findPersonIdOf } = await import("../sign-on/index.ts");
  const id = await findPersonIdOf(db, username);
  if (id === null) throw notFound("person_not_found", `Nobody has the user name '${username}'.`);
  return id;
};

const findGroup: Find = async (db, text, schoolId) => {
  const { findSchoolId, listGroupsCalled } = await import("../directory/index.ts");
  const [, officialId, rest] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  const named = officialId === undefined ? null : await findSchoolId(db, officialId);
  const name = named === null ? text : rest!;
  const groups = await listGroupsCalled(db, { name, schoolId: named ?? schoolId });
  const active = groups.filter(({ status }) => status === "ACTIVE");
  const [only, ...others] = active.length > 0 ? active : groups;
  if (only === undefined) throw notFound("group_not_found", `No group is called '${text}'.`);
  if (others.length === 0) return only.id;
  const candidates = [only, ...others].map(({ id, school }) => `  ${id}  ${school.officialId}/${name}  ${school.name}`);
  const message = `${candidates.length} groups are called '${name}'. Give the id of one:\n${candidates.join("\n")}`;
  throw new AppError("conflict", "group_ambiguous", message);
};

const findEndpoint: Find = async (db, clientId) => {
  const { listEndpoints } = await import("../webhooks/index.ts");
  const [only, ...others] = await listEndpoints(db, { clientId });
  if (only === undefined)
    throw notFound("webhook_endpoint_not_found", `'${clientId}' is neither the id of an endpoint nor an app with one.`);
  if (others.length === 0) return only.id;
  const candidates = [only, ...others].map(({ id, url }) => `  ${id}  ${url}`);
  const message = `The app has ${candidates.length} endpoints. Give the id of one:\n${candidates.join("\n")}`;
  throw new AppError("conflict", "webhook_endpoint_ambiguous", message);
};

const ways: Readonly<Record<Kind, Find>> = {
  school: findSchool,
  person: findPerson,
  group: findGroup,
  endpoint: findEndpoint,
};

/**
 * Looks names up in the database.
 *
 * Errors: not_found; conflict with the ids of all candidates where a name stands for several.
 */
export const makeLookUp =
  (db: OpenDb): LookUp =>
  ({ kind, text }, schoolId) =>
    ways[kind](db, text, schoolId);
