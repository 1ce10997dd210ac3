import {
  peopleOrderOf,
  personIsSynced,
  readTable,
  shownSchools,
  viewVersion,
  type PeopleOrder,
} from "../access/index.ts";
import { answerList, makeListQuery, ParameterError, type ListQuery } from "../platform/http/index.ts";
import { join, type Parameters } from "../platform/database/sql.ts";
import { allPeople, filterNames, filters, type FilterName } from "./people.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const p = readTable("person", "p");

type Given = { client: string } & { [Name in FilterName]?: string | undefined };

const made = new Map<string, ListQuery<Personendatensatz, Given>>();

type Asked = { parts: Parts; filtered: FilterName[]; order: PeopleOrder };

/** One statement for each combination, so that each begins at what its filters find. */
function queryFor({ parts, filtered, order }: Asked): ListQuery<Personendatensatz, Given> {
  const bits = [...Object.values(parts), ...filterNames.map((name) => filtered.includes(name))].map(Number).join("");
  const name = `schulconnex_personen_info_${bits}${order === "name" ? "" : "_by_id"}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const query = makeListQuery<Personendatensatz, Given>(name, (given) => ({
    item: personendatensatz(given.client, parts),
    visible: personIsSynced(given.client, p),
    ...listPeople(given, filtered, order),
  }));
  made.set(name, query);
  return query;
}

/** Begins at what the first filter finds, which is the narrowest, and asks each of these people for the others. */
function listPeople(given: Parameters<Given>, filtered: FilterName[], order: PeopleOrder) {
  const { client } = given;
  const [first, ...others] = filtered.map((name) => ({ filter: filters[name], value: given[name] }));
  const conditions = others.map(({ filter, value }) => filter.holds(client, value));
  return {
    ...(first === undefined ? allPeople[order](client) : first.filter.people(client, first.value, order)),
    version: viewVersion(client, first === undefined ? shownSchools(client) : first.filter.schools(first.value)),
    ...(conditions.length > 0 && { filter: join(conditions, " AND ") }),
  };
}

function readParts(asked: string[] | undefined): Parts {
  if (asked === undefined) return allParts;
  const names = new Set(asked.map((name) => name.trim().toLowerCase()));
  for (const name of names) {
    if (Object.hasOwn(allParts, name) || name === "beziehungen") continue;
    throw new ParameterError("wrong", "vollstaendig", "The query parameter vollstaendig names an unknown part.");
  }
  const has = (name: keyof Parts) => names.has(name);
  return {
    personen: has("personen"),
    personenkontexte: has("personenkontexte"),
    organisationen: has("organisationen"),
    gruppen: has("gruppen"),
  };
}

export const listPersonenInfo: SchulconnexHandler<"listPersonenInfo"> = ({ caller, query }) => {
  const filtered = filterNames.filter((name) => query[name] !== undefined);
  const values = Object.fromEntries(filtered.map((name) => [name, query[name]]));
  const asked = { parts: readParts(query.vollstaendig), filtered, order: peopleOrderOf(caller) };
  return answerList(queryFor(asked), { client: caller.clientId, ...values }, null);
};
