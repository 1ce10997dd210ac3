import type { OpenDb } from "../platform/database/db.ts";
import type { Kind, LookUp } from "./names.ts";
import { notFound, onlyEndpoint, onlyGroup } from "./only-one.ts";

type Find = (db: OpenDb, text: string, schoolId: string | undefined) => Promise<string>;

const findSchool: Find = async (db, officialId) => {
  const { findSchoolId } = await import("../directory/index.ts");
  const id = await findSchoolId(db, officialId);
  if (id === null) throw notFound("school_not_found", `No school has the official id '${officialId}'.`);
  return id;
};

const findPerson: Find = async (db, username) => {
  const { findPersonIdOf } = await import("../accounts/index.ts");
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
  return onlyGroup(groups, { text, name });
};

const findEndpoint: Find = async (db, clientId) => {
  const { listEndpoints } = await import("../webhooks/index.ts");
  return onlyEndpoint(await listEndpoints(db, { clientId }), clientId);
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
