import type { GroupId, PersonId, PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import { makeFindOne, sql, table } from "../../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Value } from "../../platform/database/sql.ts";
import { appAttributes, granted, readTable, type AppAttribute } from "../attributes.ts";
import { appIdOf } from "../pairwise.ts";
import type { ClientId } from "../token.ts";
import { fromShownGroupsOf } from "../visibility.ts";
import { schoolsOf, withheldItems, type WithheldItem } from "../withheld-sql.ts";

type SubjectSchool = {
  id: SchoolId;
  name: string;
  /** Null without the attribute, like the following ones. */
  officialId: string | null;
  location: { country: string; state: string } | null;
  address: { address: string; addressAddition: string | null; city: string; zipCode: string } | null;
  schoolingLevel: string | null;
};

export type SubjectClaims = {
  name: PersonName | null;
  role: PersonRole;
  /** In the spelling of Schulconnex that the app is registered for. */
  schulconnexRole: string;
  /** The school chosen at sign-on; null if none was, or if the person has left it. */
  school: SubjectSchool | null;
  groups: { id: GroupId; name: string }[];
};

export type Subject = Omit<SubjectClaims, "school"> & {
  /** As the app knows the person; null if it has ids of its own and none of this person yet. */
  id: string | null;
  schools: SubjectSchool[];
  /** What the person's schools withhold; the claims of these scopes are null. */
  withheld: WithheldItem[] | null;
};

const p = readTable("person", "p");
const a = readTable("affiliation", "a");
const s = readTable("school", "s");
const g = table("group", "g");

const nameClaim = ({ firstFull, firstCall, last }: Columns<"firstFull" | "firstCall" | "last">): Sql =>
  sql`CASE WHEN ${last} IS NOT NULL
    THEN json_build_object('firstFull', ${firstFull}, 'firstCall', ${firstCall}, 'last', ${last}) END`;
const locationOf = ({ country, state }: Columns<"country" | "state">): Sql =>
  sql`json_build_object('country', ${country}, 'state', ${state})`;
const addressOf = (s: Columns<"address" | "addressAddition" | "city" | "zipCode">): Sql =>
  sql`json_build_object('address', ${s.address}, 'addressAddition', ${s.addressAddition}, 'city', ${s.city},
    'zipCode', ${s.zipCode})`;

const app = table("app", "v_spelling");
const reader = table("app", "reader");

/**
 * SQL value: the code of the role in the spelling of Schulconnex that the app is registered for. The app is read by a
 * subselect, which a list runs once: a join could come before the people and undo their order.
 */
export const schulconnexRole = (client: Value, role: Sql): Sql => sql`(
  CASE (SELECT ${app.schulconnexSpelling} FROM ${app} WHERE ${app.clientId} = ${client})
    WHEN 'V1_4' THEN CASE ${role} WHEN 'TEACHER' THEN 'LEHR' WHEN 'STUDENT' THEN 'LERN' ELSE 'EXTERN' END
    WHEN 'V1_7' THEN CASE ${role} WHEN 'TEACHER' THEN 'Lehr' WHEN 'STUDENT' THEN 'Lern' ELSE 'Extern' END
    ELSE CASE ${role} WHEN 'TEACHER' THEN 'Lehr' WHEN 'STUDENT' THEN 'Lern' ELSE 'NLehr' END END)`;

/** SQL relation: the items that the schools withhold from the app, empty if none. */
const heldAt = (client: Value, schools: Sql): Sql =>
  sql`LATERAL (SELECT coalesce(${withheldItems(client, schools)}, '{}') AS items OFFSET 0)`;

/** SQL value for one person. In a list, it would read the app and the withheld items again for each person. */
export const subjectOf = (client: Value, personId: Value): Sql => {
  const ofPerson = { attributes: reader.attributes, held: sql`held.items` };
  const ofSchool = { attributes: reader.attributes, held: sql`held_here.items` };
  return sql`(
  SELECT json_build_object('id', ${appIdOf(client, p.id)}, 'role', ${p.role},
    'schulconnexRole', ${schulconnexRole(client, p.role)},
    'name', ${granted(ofPerson, "PERSON_NAME", p, nameClaim)},
    'schools', (
      SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'name', ${s.name},
        'officialId', ${granted(ofSchool, "SCHOOL_OFFICIAL_ID", s, ({ officialId }) => officialId)},
        'location', ${granted(ofSchool, "SCHOOL_LOCATION", s, locationOf)},
        'address', ${granted(ofSchool, "SCHOOL_ADDRESS", s, addressOf)},
        'schoolingLevel', ${granted(ofSchool, "SCHOOLING_LEVEL", s, ({ schoolingLevel }) => schoolingLevel)})), '[]')
      FROM ${a} JOIN ${s} ON ${s.id} = ${a.schoolId} CROSS JOIN ${heldAt(client, s.id)} AS held_here
      WHERE ${a.personId} = ${p.id}),
    'groups', (
      SELECT
        coalesce(json_agg(json_build_object('id', ${g.id}, 'name', ${g.name}) ORDER BY ${g.sortKey}, ${g.id}), '[]')
      ${fromShownGroupsOf(client, p.id)}),
    'withheld', nullif(held.items, '{}'))
  FROM ${p} LEFT JOIN ${reader} ON ${reader.clientId} = ${client} CROSS JOIN ${heldAt(client, schoolsOf(p.id))} AS held
  WHERE ${p.id} = ${personId})`;
};

type Pair = { clientId: ClientId; personId: PersonId };

const selectSubject = makeFindOne<{ subject: Subject | null }, Pair>("access.findSubject")`
  SELECT ${({ clientId, personId }) => subjectOf(clientId, personId)} AS subject`;

/** Whether a person at several schools chooses one for the claims of these scopes. */
export const asksForSchool = (scopes: Iterable<string>): boolean =>
  [...scopes].some((scope) => scope === "school" || scope === "person-info");

export const findSubject = async (db: Queryable, pair: Pair): Promise<Subject | null> =>
  (await selectSubject(db, pair)).subject;

const ofSchool: { readonly [Name in AppAttribute]?: (school: SubjectSchool) => unknown } = {
  SCHOOL_ADDRESS: ({ address }) => address,
  SCHOOL_LOCATION: ({ location }) => location,
  SCHOOL_OFFICIAL_ID: ({ officialId }) => officialId,
  SCHOOLING_LEVEL: ({ schoolingLevel }) => schoolingLevel,
};

/**
 * The attributes that an app does not get of the person at this school. Another school of theirs withholds nothing of
 * this one, but the name everywhere.
 */
export function attributesLacking(
  { withheld }: Pick<Subject, "withheld">,
  { attributes, school }: { attributes: readonly AppAttribute[]; school: SubjectSchool | null },
): AppAttribute[] {
  const isGiven = (name: AppAttribute) => school !== null && (ofSchool[name]?.(school) ?? null) !== null;
  const isWithheld = (name: AppAttribute) => withheld?.includes(name) === true && !isGiven(name);
  return appAttributes.filter((name) => !attributes.includes(name) || isWithheld(name));
}

export function claimsAt(
  { id: _id, withheld: _withheld, schools, ...subject }: Subject,
  schoolId: SchoolId | null,
): SubjectClaims {
  return { ...subject, school: schools.find(({ id }) => id === schoolId) ?? null };
}
