import type pg from "pg";
import { scopeNames, type AccessToken, type ClientId, type IdKind, type NamesRead } from "../../src/access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { getGroup } from "../../src/idm/getGroup.ts";
import { getPerson } from "../../src/idm/getPerson.ts";
import { getSchool } from "../../src/idm/getSchool.ts";
import { getSchoolRoster } from "../../src/idm/getSchoolRoster.ts";
import { getUser } from "../../src/idm/getUser.ts";
import { listSchoolGroups } from "../../src/idm/listSchoolGroups.ts";
import { listSchoolPeople } from "../../src/idm/listSchoolPeople.ts";
import { listSchools } from "../../src/idm/listSchools.ts";
import { listSchoolUsers } from "../../src/idm/listSchoolUsers.ts";
import type { Db } from "../../src/platform/database/db.ts";
import type { JsonList, JsonObject, JsonRead } from "../../src/platform/http/answer.ts";
import type { ListQuery } from "../../src/platform/http/index.ts";
import type { Statement } from "../../src/platform/database/sql.ts";
import { getPersonInfo } from "../../src/schulconnex/getPersonInfo.ts";
import { listPersonenInfo } from "../../src/schulconnex/listPersonenInfo.ts";

/** A list as a handler asks for it. */
export type List = { label: string; query: ListQuery<unknown>; given: Record<string, unknown> };
/** What has a version: a list, or an object of lists. */
export type Versioned = Omit<List, "query"> & { query: Pick<ListQuery<unknown>, "name" | "version" | "parts"> };

/** A statement with its values in their order. */
export const bind = <Given extends object>({ text, values }: Statement<Given>, given: Given) => ({
  text,
  values: values(given),
});

export const appToken = (clientId: ClientId, namesRead: NamesRead = "all", ids: IdKind = "shared"): AccessToken => ({
  clientId,
  personId: null,
  hasSecondFactor: false,
  namesRead,
  ids,
  scopes: new Set(scopeNames),
});

const noQuery = undefined as never;
const noPath = { path: undefined as never };

type Found = {
  clientId: ClientId;
  namesRead?: NamesRead;
  ids?: IdKind;
  school?: SchoolId;
  person?: PersonId;
  group?: GroupId;
  affiliation?: string;
};

/**
 * Every list that concerns a school, a person, a group and an affiliation, with every filter; without any, those of
 * the app as a whole.
 */
export function listsOf({ clientId, namesRead, ids, school, person, group, affiliation }: Found): List[] {
  const caller = appToken(clientId, namesRead, ids);
  const of = (label: string, answer: unknown): List => {
    const { query, params: given } = answer as JsonList<unknown>;
    return { label, query, given };
  };
  const deleted = { "show-deleted": true } as const;
  const filter = (name: string, value: string) =>
    of(name, listPersonenInfo({ caller, ...noPath, query: { [name]: value } }));
  return [
    of("schools", listSchools({ caller, ...noPath, query: {} })),
    of("personen-info", listPersonenInfo({ caller, ...noPath, query: {} })),
    of(
      "vollstaendig",
      listPersonenInfo({ caller, ...noPath, query: { vollstaendig: ["personen", "organisationen"] } }),
    ),
    ...(school === undefined
      ? []
      : [
          of("groups", listSchoolGroups({ caller, path: { id: school }, query: {} })),
          of("groups with deleted", listSchoolGroups({ caller, path: { id: school }, query: deleted })),
          of("people", listSchoolPeople({ caller, path: { id: school }, query: {} })),
          of("people with deleted", listSchoolPeople({ caller, path: { id: school }, query: deleted })),
          of("users", listSchoolUsers({ caller, path: { id: school }, query: {} })),
          filter("organisation.id", school),
        ]),
    ...(person === undefined ? [] : [filter("pid", person)]),
    ...(group === undefined ? [] : [filter("gruppe.id", group)]),
    ...(affiliation === undefined ? [] : [filter("personenkontext.id", affiliation)]),
  ];
}

export function rosterOf({
  clientId,
  namesRead,
  school,
}: Pick<Found, "clientId" | "namesRead"> & { school: SchoolId }): Versioned {
  const answer = getSchoolRoster({ caller: appToken(clientId, namesRead), path: { id: school }, query: noQuery });
  const { query, params: given } = answer as JsonObject<unknown>;
  return { label: "roster", query, given };
}

/** The single records that an app reads, as statements with their values. */
export function recordsOf({
  clientId,
  school,
  person,
  group,
}: Required<Omit<Found, "affiliation" | "namesRead" | "ids">>): Record<string, { text: string; values: unknown[] }> {
  const caller = appToken(clientId);
  const of = ({ query, client, id }: JsonRead<unknown>) => bind(query, { clients: [client], ids: [id] });
  const read = (answer: unknown) => of(answer as JsonRead<unknown>);
  return {
    school: read(getSchool({ caller, path: { id: school }, query: noQuery })),
    group: read(getGroup({ caller, path: { id: group }, query: noQuery })),
    user: read(getUser({ caller, path: { id: person }, query: noQuery })),
    person: read(getPerson({ caller, path: { id: person }, query: {} })),
    "person with deleted ones": read(getPerson({ caller, path: { id: person }, query: { "show-deleted": true } })),
    "person-info": read(getPersonInfo({ caller: { ...caller, personId: person }, ...noPath, query: noQuery })),
  };
}

export type ReadList = { shown: boolean; version: string; changedAt: string; sourceReadAt: string; body: string };

/** Reads lists with their versions in one snapshot. */
export async function readLists(db: Pick<Db, "pool">, lists: readonly Versioned[]): Promise<ReadList[]> {
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const read: ReadList[] = [];
    for (const list of lists) read.push(await readList(client, list));
    return read;
  } finally {
    await client.query("COMMIT");
    client.release();
  }
}

async function readList(client: pg.ClientBase, { query, given }: Versioned): Promise<ReadList> {
  const { rows: versions } = await client.query<{ shown: boolean; version: string | null }>({
    name: query.version.name,
    ...bind(query.version, given),
  });
  const items: string[] = [];
  for (const { rows: part } of query.parts) {
    const { rows } = await client.query<{ item: string }>({ name: part.name, ...bind(part, given) });
    items.push(...rows.map(({ item }) => item));
  }
  const { shown, version } = versions[0]!;
  const [tag = null, changedAt = "", sourceReadAt = ""] = version?.split(" ") ?? [];
  // An app that is gone has no version.
  return { shown, version: tag!, changedAt, sourceReadAt, body: items.join("\n") };
}
