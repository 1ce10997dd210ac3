import { personIsSynced, shownSchools, viewVersion } from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import { answerList, makeListQuery, type ListQuery } from "../platform/http/index.ts";
import { allPeople, filterNames, filters, type FilterName, type People } from "./people.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const client = "$1";

const made = new Map<string, ListQuery<Personendatensatz>>();

/** One statement for each combination, so that each begins at what its filters find. */
function queryFor(parts: Parts, given: FilterName[]): ListQuery<Personendatensatz> {
  const bits = [...Object.values(parts), ...filterNames.map((name) => given.includes(name))].map(Number).join("");
  const known = made.get(bits);
  if (known !== undefined) return known;
  const query = makeListQuery<Personendatensatz>(`schulconnex_personen_info_${bits}`, {
    item: personendatensatz(client, parts),
    ...listPeople(given),
    values: 1 + given.length,
  });
  made.set(bits, query);
  return query;
}

/** Begins at what the first filter finds, which is the narrowest, and asks each of these people for the others. */
function listPeople(given: FilterName[]) {
  const [first, ...others] = given.map((name, index) => ({ filter: filters[name], value: `$${index + 2}` }));
  const {
    before = "",
    from,
    ...order
  }: People = first === undefined ? allPeople(client) : first.filter.people(client, first.value);
  const conditions = [personIsSynced(client, "p"), ...others.map(({ filter, value }) => filter.holds(client, value))];
  const version = viewVersion(client, first === undefined ? shownSchools(client) : first.filter.schools(first.value));
  // Every parameter has to stand in the statement with its type.
  const unused =
    others.length === 0 ? "" : ` || left(concat(${others.map(({ value }) => `${value}::uuid`).join(", ")}), 0)`;
  return { before, from: `${from} WHERE ${conditions.join(" AND ")}`, ...order, version: version + unused };
}

function readParts(asked: string[] | undefined): Parts {
  if (asked === undefined) return allParts;
  const names = new Set(asked.map((name) => name.trim().toLowerCase()));
  for (const name of names) {
    if (Object.hasOwn(allParts, name) || name === "beziehungen") continue;
    throw new AppError("invalid", "invalid_request", "The query parameter vollstaendig names an unknown part.");
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
  const given = filterNames.filter((name) => query[name] !== undefined);
  const values = [caller.clientId, ...given.map((name) => query[name])];
  return answerList(queryFor(readParts(query.vollstaendig), given), values, null);
};
