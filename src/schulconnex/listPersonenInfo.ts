import { groupIsShown, personIsSynced, schoolIsShown, shownSchools, viewVersion } from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import { answerList, makeListQuery, type ListQuery } from "../platform/http/index.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, fromPeople, personendatensatz, type Parts, type Personendatensatz } from "./records.ts";

const client = "$1";

const hasContext = (condition: string) =>
  `EXISTS (SELECT FROM affiliation f WHERE f.person_id = p.id AND ${condition} AND ${schoolIsShown(client, "f.school_id")})`;

/** Only what the app sees counts: a filter by a group that it does not see matches nobody. */
const filters = {
  pid: (value: string) => `p.id = ${value}`,
  "personenkontext.id": (value: string) => hasContext(`f.id = ${value}`),
  "gruppe.id": (value: string) =>
    `p.id IN (SELECT f.person_id FROM membership f WHERE f.group_id = ${value})
      AND EXISTS (SELECT FROM "group" g WHERE g.id = ${value} AND ${groupIsShown(client, "g")})`,
  "organisation.id": (value: string) => hasContext(`f.school_id = ${value}`),
};

/** The schools of whoever a filter may find. Narrowest first: of several filters the first decides, as all of them hold. */
const schoolsFound = {
  pid: (value: string) => `SELECT f.school_id FROM affiliation f WHERE f.person_id = ${value}`,
  "personenkontext.id": (value: string) =>
    `SELECT other.school_id FROM affiliation f JOIN affiliation other ON other.person_id = f.person_id WHERE f.id = ${value}`,
  "gruppe.id": (value: string) => `SELECT f.school_id FROM "group" f WHERE f.id = ${value}`,
  "organisation.id": (value: string) => `SELECT ${value}::uuid`,
};
type Filter = keyof typeof filters;
const filterNames = Object.keys(filters) as Filter[];

const made = new Map<string, ListQuery<Personendatensatz>>();

/** One statement for each combination, so that each can use the index that its filters allow. */
function queryFor(parts: Parts, given: Filter[]): ListQuery<Personendatensatz> {
  const bits = [...Object.values(parts), ...filterNames.map((name) => given.includes(name))].map(Number).join("");
  const known = made.get(bits);
  if (known !== undefined) return known;
  const conditions = given.map((name, index) => ` AND ${filters[name](`$${index + 2}`)}`);
  const query = makeListQuery<Personendatensatz>(`schulconnex_personen_info_${bits}`, {
    item: personendatensatz(parts),
    from: `${fromPeople(client)} AND ${personIsSynced(client, "p")}${conditions.join("")}`,
    version: versionFor(given),
    values: 1 + given.length,
    sortKey: "p.sort_key",
    id: "p.id",
    planEachTime: true,
  });
  made.set(bits, query);
  return query;
}

function versionFor(given: Filter[]): string {
  const [first, ...others] = given.map((name, index) => ({ name, value: `$${index + 2}` }));
  if (first === undefined) return viewVersion(client, shownSchools(client));
  const version = viewVersion(client, schoolsFound[first.name](first.value));
  // Every parameter has to stand in the statement with its type.
  return others.length === 0 ? version : `${version} || left(concat(${others.map(({ value }) => `${value}::uuid`).join(", ")}), 0)`;
}

function readParts(asked: string[] | undefined): Parts {
  if (asked === undefined) return allParts;
  const names = new Set(asked.map((name) => name.trim().toLowerCase()));
  for (const name of names) {
    if (Object.hasOwn(allParts, name) || name === "beziehungen") continue;
    throw new AppError("invalid", "invalid_request", "The query parameter vollstaendig names an unknown part.");
  }
  const has = (name: keyof Parts) => names.has(name);
  return { personen: has("personen"), personenkontexte: has("personenkontexte"), organisationen: has("organisationen"), gruppen: has("gruppen") };
}

export const listPersonenInfo: SchulconnexHandler<"listPersonenInfo"> = ({ caller, query }) => {
  const given = filterNames.filter((name) => query[name] !== undefined);
  const values = [caller.clientId, ...given.map((name) => query[name])];
  return answerList(queryFor(readParts(query.vollstaendig), given), values, null);
};
