import { AppError } from "../platform/errors.ts";
import { iterateList, listAll, type Schemas } from "./admin-api.ts";
import type { Service } from "./command.ts";
import type { Kind, Named } from "./names.ts";

const notFound = (code: string, message: string) => new AppError("not_found", code, message);

type Texts<Item> = { code: string; none: string; several: string; candidate: (item: Item) => string };

/** Errors: not_found; conflict, which lists the candidates. */
function only<Item extends { id: string }>(items: readonly Item[], { code, none, several, candidate }: Texts<Item>) {
  const [one, ...others] = items;
  if (one === undefined) throw notFound(`${code}_not_found`, none);
  if (others.length === 0) return one.id;
  const lines = items.map((item) => `  ${item.id}  ${candidate(item)}`);
  throw new AppError("conflict", `${code}_ambiguous`, [several, ...lines].join("\n"));
}

type NamedGroup = { id: string; status: "ACTIVE" | "DELETED"; school: { officialId: string; name: string } };

/** The one active group with this name; without an active one, the one deleted group. Errors: UsageError. */
function onlyGroup(groups: readonly NamedGroup[], { text, name }: { text: string; name: string }): string {
  const active = groups.filter(({ status }) => status === "ACTIVE");
  const named = active.length > 0 ? active : groups;
  return only(named, {
    code: "group",
    none: `No group is called '${text}'.`,
    several: `${named.length} groups are called '${name}'. Give the id of one:`,
    candidate: ({ school }) => `${school.officialId}/${name}  ${school.name}`,
  });
}

type Find = (service: Service, text: string, schoolId: string | undefined) => Promise<string>;

async function findSchoolId({ api }: Service, officialId: string): Promise<string | null> {
  const wanted = officialId.normalize("NFC");
  const schools = iterateList((page) =>
    api.GET("/admin/v1/schools", { params: { query: { search: wanted, ...page } } }),
  );
  for await (const school of schools) if (school.officialId === wanted) return school.id;
  return null;
}

const findSchool: Find = async (service, officialId) => {
  const id = await findSchoolId(service, officialId);
  if (id === null) throw notFound("school_not_found", `No school has the official id '${officialId}'.`);
  return id;
};

/** User names are compared without case, as at the sign-in. */
const findPerson: Find = async ({ api }, username) => {
  const wanted = username.normalize("NFC").toLowerCase();
  const people = iterateList((page) =>
    api.GET("/admin/v1/people", { params: { query: { search: username, ...page } } }),
  );
  for await (const person of people) if (person.username?.normalize("NFC").toLowerCase() === wanted) return person.id;
  throw notFound("person_not_found", `Nobody has the user name '${username}'.`);
};

async function listGroupsAt({ api }: Service, school: Schemas["AdminSchool"], name: string): Promise<NamedGroup[]> {
  const query = { school: school.id, search: name, "show-deleted": true };
  const groups = await listAll((page) => api.GET("/admin/v1/groups", { params: { query: { ...query, ...page } } }));
  return groups.filter((group) => group.name === name).map((group) => ({ ...group, school }));
}

/** The API lists the groups of one school; the database finds a name at all schools in one statement. */
async function listGroupsAnywhere(service: Service, name: string): Promise<readonly NamedGroup[]> {
  if (service.machine !== null) {
    const { listGroupsCalled } = await import("../directory/index.ts");
    return service.machine.withDatabase(({ db }) => listGroupsCalled(db, { name }));
  }
  const groups: NamedGroup[] = [];
  for await (const school of iterateList((page) => service.api.GET("/admin/v1/schools", { params: { query: page } })))
    groups.push(...(await listGroupsAt(service, school, name)));
  return groups;
}

const findGroup: Find = async (service, text, schoolOfCall) => {
  const [, officialId, rest] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  const namedSchool = officialId === undefined ? null : await findSchoolId(service, officialId);
  const name = (namedSchool === null ? text : rest!).normalize("NFC");
  const schoolId = namedSchool ?? schoolOfCall;
  if (schoolId === undefined) return onlyGroup(await listGroupsAnywhere(service, name), { text, name });
  const { data } = await service.api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } });
  return onlyGroup(await listGroupsAt(service, data as Schemas["AdminSchool"], name), { text, name });
};

const findEndpoint: Find = async ({ api }, clientId) => {
  const read = (page: object) =>
    api.GET("/admin/v1/webhook-endpoints", { params: { query: { app: clientId, ...page } } });
  const endpoints = await listAll(read).catch((error: unknown) => {
    if (error instanceof AppError && error.status === 404) return [];
    throw error;
  });
  return only(endpoints, {
    code: "webhook_endpoint",
    none: `'${clientId}' is neither the id of an endpoint nor an app with one.`,
    several: `The app has ${endpoints.length} endpoints. Give the id of one:`,
    candidate: ({ url }) => url,
  });
};

const finders: Readonly<Record<Kind, Find>> = {
  school: findSchool,
  person: findPerson,
  group: findGroup,
  endpoint: findEndpoint,
};

/** Errors: not_found; conflict, with the ids of all candidates, for a name that several have. */
export const lookUp = (service: Service, { kind, text }: Named, schoolId: string | undefined): Promise<string> =>
  finders[kind](service, text, schoolId);
