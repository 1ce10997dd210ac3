import { personIsSynced, shownSchools, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery, ParameterError, type ListQuery } from "../platform/http/index.ts";
import { join, table, type Parameters } from "../platform/sql.ts";
import { allPeople, filterNames, filters, type FilterName } from "./people.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const p = table("person", "p");

type Given = { client: string } & { [Name in FilterName]?: string | undefined };

const made = new Map<string, ListQuery<Personendatensatz, Given>>();

/** One statement for each combination, so that each begins at what its filters find. */
function queryFor(parts: Parts, filtered: FilterName[]): ListQuery<Personendatensatz, Given> {
  const bits = [...Object.values(parts), ...filterNames.map((name) => filtered.includes(name))].map(Number).join("");
  const known = made.get(bits);
  if (known !== undefined) return known;
  const query = makeListQuery<Personendatensatz, Given>(`schulconnex_personen_info_${bits}`, (given) => ({
    item: personendatensatz(given.client, parts),
    visible: personIsSynced(given.client, p),
    ...listPeople(given, filtered),
  }));
  made.set(bits, query);
  return query;
}

/** Begins at what the first filter finds, which is the narrowest, and asks each of these people for the others. */
function listPeople(given: Parameters<Given>, filtered: FilterName[]) {
  const { client } = given;
  const [first, ...others] = filtered.map((name) => ({ filter: filters[name], value: given[name] }));
  const conditions = others.map(({ filter, value }) => filter.holds(client, value));
  return {
    ...(first === undefined ? allPeople(client) : first.filter.people(client, first.value)),
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
  return answerList(queryFor(readParts(query.vollstaendig), filtered), { client: caller.clientId, ...values }, null);
};
