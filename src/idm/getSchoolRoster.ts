import {
  groupIsReadable,
  nameOfOrder,
  peopleOrderOf,
  personIsListed,
  readTable,
  schoolIsReadable,
  userIsListed,
  type AccessToken,
} from "../access/index.ts";
import { table } from "../platform/database/sql.ts";
import { answerObject, makeObjectQuery, type ObjectQuery } from "../platform/http/index.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { group, groupsOfSchool, ofSchool, oneSchool, peopleOfSchool, person, school, user } from "./records.ts";
import type { OfSchool, Roster } from "./records.ts";

const s = readTable("school", "s");
const g = table("group", "g");
const p = readTable("person", "p");

const queries = new Map<string, ObjectQuery<Roster, OfSchool>>();

/** One statement per combination of scopes, so that nothing is read that the app may not see. */
function queryFor(caller: AccessToken): ObjectQuery<Roster, OfSchool> {
  const order = peopleOrderOf(caller);
  const parts = (["schools", "groups", "people", "users"] as const).filter((part) => caller.scopes.has(`${part}:read`));
  const name = `idm_school_roster_${parts.join("_")}${nameOfOrder(order)}`;
  const known = queries.get(name);
  if (known !== undefined) return known;
  const has = (part: (typeof parts)[number]) => parts.includes(part);
  const query = makeObjectQuery<Roster, OfSchool>(name, ofSchool, {
    school: has("schools") && {
      one: (params) => ({
        ...oneSchool(params),
        item: school(params),
        visible: schoolIsReadable(params.client, s),
      }),
    },
    groups: has("groups") && {
      list: (params) => ({
        ...groupsOfSchool(params),
        item: group({ client: params.client }, order.ids),
        visible: groupIsReadable(params.client, g),
      }),
      // A row has all members of its group.
      rowsAtOnce: 1,
    },
    people: has("people") && {
      list: ({ client, school }) => {
        const people = peopleOfSchool({ client, school }, order);
        return {
          ...people,
          item: person({ client, school, id: people.id }),
          visible: personIsListed({ client }, p, school),
        };
      },
    },
    users: has("users") && {
      list: ({ client, school }) => {
        const people = peopleOfSchool({ client, school }, order);
        return {
          ...people,
          item: user({ client, school, id: people.id }),
          visible: userIsListed({ client }, p, school),
        };
      },
    },
  });
  queries.set(name, query);
  return query;
}

export const getSchoolRoster: IdmHandler<"getSchoolRoster"> = ({ caller, path }) =>
  answerObject(queryFor(caller), { client: caller.clientId, school: path.id }, organizationNotFound);
