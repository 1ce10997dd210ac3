import {
  nameOfOrder,
  peopleOrderOf,
  readTable,
  shownSchools,
  syncedPersonIsListed,
  viewVersion,
  type PeopleOrder,
} from "../access/index.ts";
import { answerList, makeListQuery, ParameterError, type ListQuery } from "../platform/http/index.ts";
import { join, type Parameters } from "../platform/database/sql.ts";
import { uuidPattern } from "../platform/crypto/ids.ts";
import { allPeople, filterNames, filters, type FilterName } from "./people.ts";
import type { SchulconnexHandler } from "./contract.ts";
import { allParts, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const p = readTable("person", "p");

type Values = { client: string } & { [Name in FilterName]?: string | undefined };
type Shape = { parts: Parts; filtered: FilterName[]; order: PeopleOrder };

const queries = new Map<string, ListQuery<Personendatensatz, Values>>();

/** Makes one statement per combination, so that each starts from its narrowest filter. */
function queryFor({ parts, filtered, order }: Shape): ListQuery<Personendatensatz, Values> {
  const bits = [...Object.values(parts), ...filterNames.map((name) => filtered.includes(name))].map(Number).join("");
  const name = `schulconnex_personen_info_${bits}${nameOfOrder(order)}`;
  const known = queries.get(name);
  if (known !== undefined) return known;
  const query = makeListQuery<Personendatensatz, Values>(name, (values) => {
    const people = listPeople(values, filtered, order);
    const item = personendatensatz(values.client, parts, { kind: order.ids, pid: people.id });
    const visible = syncedPersonIsListed({ client: values.client }, p);
    return { ...people, item, visible };
  });
  queries.set(name, query);
  return query;
}

function listPeople(values: Parameters<Values>, filtered: FilterName[], order: PeopleOrder) {
  const { client } = values;
  const [first, ...others] = filtered.map((name) => ({ filter: filters[name], value: values[name] }));
  const conditions = others.map(({ filter, value }) => filter.holds(client, value, order.ids));
  return {
    ...(first === undefined ? allPeople(client, order) : first.filter.people(client, first.value, order)),
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

export const listPersonenInfo: SchulconnexHandler<"listPersonenInfo"> = ({ caller, query }) => {
  const filtered = filterNames.filter((name) => query[name] !== undefined);
  const values = Object.fromEntries(filtered.map((name) => [name, idOf(query[name]!)]));
  const shape = { parts: readParts(query.vollstaendig), filtered, order: peopleOrderOf(caller) };
  return answerList(queryFor(shape), { client: caller.clientId, ...values }, null);
};
