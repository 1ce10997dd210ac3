import {
  nameOfOrder,
  peopleOrderOf,
  personIdIsKnown,
  readTable,
  shownSchools,
  syncedPersonIsListed,
  viewVersion,
  type PeopleOrder,
} from "../access/index.ts";
import { answerList, makeListQuery, ParameterError, type ListQuery } from "../platform/http/index.ts";
import { join, sql, type Parameters } from "../platform/database/sql.ts";
import { uuidPattern } from "../platform/crypto/ids.ts";
import { allPeople, filterNames, filters, peopleAfter, type FilterName } from "./people.ts";
import type { SchulconnexHandler } from "./contract.ts";
import { allParts, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const p = readTable("person", "p");

const pageNames = ["offset", "limit"] as const;
type PageName = (typeof pageNames)[number];

type Values = { client: string; offset?: string; limit?: number } & { [Name in FilterName]?: string | undefined };
type Shape = { parts: Parts; filtered: FilterName[]; paged: PageName[]; order: PeopleOrder };

const queries = new Map<string, ListQuery<Personendatensatz, Values>>();

/** Makes one statement per combination, so that each starts from its narrowest filter. */
function queryFor(shape: Shape): ListQuery<Personendatensatz, Values> {
  const { parts, filtered, paged, order } = shape;
  const filters = [
    ...Object.values(parts),
    ...filterNames.map((name) => filtered.includes(name)),
    ...pageNames.map((name) => paged.includes(name)),
  ];
  const name = `schulconnex_personen_info_${filters.map(Number).join("")}${nameOfOrder(order)}`;
  const known = queries.get(name);
  if (known !== undefined) return known;
  const query = makeListQuery<Personendatensatz, Values>(name, (values) => {
    const people = listPeople(values, shape);
    const item = personendatensatz(values.client, parts, { kind: order.ids, pid: people.id });
    const visible = syncedPersonIsListed({ client: values.client }, p);
    return { ...people, item, visible };
  });
  queries.set(name, query);
  return query;
}

function listPeople(values: Parameters<Values>, { filtered, paged, order }: Shape) {
  const { client } = values;
  const after = paged.includes("offset") ? values.offset : undefined;
  const [first, ...others] = filtered.map((name) => ({ filter: filters[name], value: values[name] }));
  const conditions = others.map(({ filter, value }) => filter.holds(client, value, order.ids));
  const everybody = () => (paged.length > 0 ? peopleAfter(client, order.ids, after) : allPeople(client, order));
  const people = first === undefined ? everybody() : first.filter.people(client, first.value, order);
  return {
    ...people,
    ...(after !== undefined && {
      shown: personIdIsKnown(client, after, order.ids),
      where: sql`${people.id} > ${after}::uuid`,
    }),
    ...(paged.includes("limit") && { limit: values.limit }),
    version: viewVersion(
      client,
      first === undefined ? shownSchools(client) : first.filter.schools(client, first.value, order.ids),
    ),
    ...(conditions.length > 0 && { filter: join(conditions, " AND ") }),
  };
}

const idOfNobody = "00000000-0000-0000-0000-000000000000";

/** To the standard an id is any text; one that is no UUID is without a match. */
const idOf = (text: string): string => (uuidPattern.test(text) ? text : idOfNobody);

function readParts(requested: string[] | undefined): Parts {
  if (requested === undefined) return allParts;
  const names = new Set(requested.map((name) => name.trim().toLowerCase()));
  for (const name of names) {
    if (Object.hasOwn(allParts, name) || name === "beziehungen") continue;
    throw new ParameterError("wrong", "vollstaendig", "The query parameter vollstaendig names an unknown part.", [
      ...Object.keys(allParts),
      "beziehungen",
    ]);
  }
  return Object.fromEntries(Object.keys(allParts).map((name) => [name, names.has(name)])) as Parts;
}

const unknownOffset = () =>
  new ParameterError("wrong", "offset", "The query parameter offset must be the pid of a person whom the app sees.");

/** Names change while an app reads page after page; the order of pages must not. */
const orderOfPages = { by: "none" } as const;

export const listPersonenInfo: SchulconnexHandler<"listPersonenInfo"> = ({ caller, query }) => {
  const filtered = filterNames.filter((name) => query[name] !== undefined);
  const paged = pageNames.filter((name) => query[name] !== undefined);
  const order = { ...peopleOrderOf(caller), ...(paged.length > 0 && orderOfPages) };
  const values: Values = {
    client: caller.clientId,
    ...Object.fromEntries(filtered.map((name) => [name, idOf(query[name]!)])),
    ...(query.offset !== undefined && { offset: idOf(query.offset) }),
    ...(query.limit !== undefined && { limit: query.limit }),
  };
  const shape = { parts: readParts(query.vollstaendig), filtered, paged, order };
  return answerList(queryFor(shape), values, paged.includes("offset") ? unknownOffset : null);
};
