import { AppError } from "../../platform/errors.ts";
import type { Kind, LookUp } from "../names.ts";
import { notFound, onlyEndpoint, onlyGroup } from "../only-one.ts";
import { everyEntry, type Remote, type Schemas } from "../admin-api.ts";

type Find = (remote: Remote, text: string, schoolId: string | undefined) => Promise<string>;

async function findSchoolId({ api }: Remote, officialId: string): Promise<string | null> {
  const wanted = officialId.normalize("NFC");
  for await (const school of everyEntry((page) =>
    api.GET("/admin/v1/schools", { params: { query: { search: wanted, ...page } } }),
  ))
    if (school.officialId === wanted) return school.id;
  return null;
}

const findSchool: Find = async (remote, officialId) => {
  const id = await findSchoolId(remote, officialId);
  if (id === null) throw notFound("school_not_found", `No school has the official id '${officialId}'.`);
  return id;
};

/** User names are compared without case, as at the sign-in. */
const findPerson: Find = async ({ api }, username) => {
  const wanted = username.normalize("NFC").toLowerCase();
  for await (const person of everyEntry((page) =>
    api.GET("/admin/v1/people", { params: { query: { search: username, ...page } } }),
  ))
    if (person.username?.normalize("NFC").toLowerCase() === wanted) return person.id;
  throw notFound("person_not_found", `Nobody has the user name '${username}'.`);
};

type FoundGroup = Schemas["AdminGroup"] & { school: Schemas["AdminSchool"] };

async function* listGroupsCalled(
  { api }: Remote,
  name: string,
  schools: AsyncIterable<Schemas["AdminSchool"]>,
): AsyncGenerator<FoundGroup> {
  for await (const school of schools)
    for await (const group of everyEntry((page) =>
      api.GET("/admin/v1/groups", {
        params: { query: { school: school.id, search: name, "show-deleted": true, ...page } },
      }),
    ))
      if (group.name === name) yield { ...group, school };
}

async function* oneSchool({ api }: Remote, schoolId: string) {
  const { data } = await api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } });
  yield data as Schemas["AdminSchool"];
}

const findGroup: Find = async (remote, text, schoolId) => {
  const [, officialId, rest] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  const named = officialId === undefined ? null : await findSchoolId(remote, officialId);
  const name = (named === null ? text : rest!).normalize("NFC");
  const at = named ?? schoolId;
  const schools =
    at === undefined
      ? everyEntry((page) => remote.api.GET("/admin/v1/schools", { params: { query: page } }))
      : oneSchool(remote, at);
  const groups: FoundGroup[] = [];
  for await (const group of listGroupsCalled(remote, name, schools)) groups.push(group);
  return onlyGroup(groups, { text, name });
};

const findEndpoint: Find = async ({ api }, clientId) => {
  const endpoints: Schemas["WebhookEndpoint"][] = [];
  const every = everyEntry((page) =>
    api.GET("/admin/v1/webhook-endpoints", { params: { query: { app: clientId, ...page } } }),
  );
  try {
    for await (const endpoint of every) endpoints.push(endpoint);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
  }
  return onlyEndpoint(endpoints, clientId);
};

const ways: Readonly<Record<Kind, Find>> = {
  school: findSchool,
  person: findPerson,
  group: findGroup,
  endpoint: findEndpoint,
};

/** Looks names up in the lists of a remote service. Errors: as the look-up in the database. */
export const makeRemoteLookUp =
  (remote: Remote): LookUp =>
  ({ kind, text }, schoolId) =>
    ways[kind](remote, text, schoolId);
