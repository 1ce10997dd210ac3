import { exists, lookUp } from "../platform/database/lookup-sql.ts";
import { sql, table, type Columns, type Sql, type Value } from "../platform/database/sql.ts";
import type { Visible, VisibleRows } from "../platform/database/visible-sql.ts";

// Every rule is a chain of look-ups by a key, begun at the row it is asked of: the memberships of one person, the grant
// of one school.
// Aliases that begin with `v_` are taken by this file.

const grant = table("grant", "v_grant");
const synced = table("syncedGroup", "v_synced");
const group = table("group", "v_group");
const member = table("membership", "v_member");
const allowed = table("grantSignOnGroup", "v_allowed");
const at = table("affiliation", "v_at");
const here = table("affiliation", "v_here");
const signIn = table("signIn", "v_sign_in");
const m = table("membership", "m");
const g = table("group", "g");
const p = table("person", "p");
const a = table("affiliation", "a");
const s = table("school", "s");

type Group = Columns<"id" | "status">;
type Person = Columns<"id" | "role" | "status">;

const visible = (condition: Sql) => condition as Visible;

/** The school syncs to the app. Without this it does not exist for the app. */
export const schoolIsShown = (client: Value, schoolId: Value): Visible =>
  visible(
    exists(sql`${grant} WHERE ${grant.clientId} = ${client} AND ${grant.schoolId} = ${schoolId} AND ${grant.sync}`),
  );

/** The ids of the schools that sync to the app, as a SELECT. */
export const shownSchools = (client: Value): Sql =>
  sql`SELECT ${grant.schoolId} FROM ${grant} WHERE ${grant.clientId} = ${client} AND ${grant.sync}`;

/**
 * The schools that sync to the app, which an index of its grants has in their order.
 *
 * Shape: a FROM, to be continued with WHERE; binds `listed` (sort_key, id) and `s` (school).
 */
export const fromShownSchools = (client: Value): VisibleRows =>
  sql`(
  SELECT ${grant.schoolSortKey}, ${grant.schoolId} FROM ${grant} WHERE ${grant.clientId} = ${client} AND ${grant.sync}
  ) AS listed (sort_key, id) ${lookUp("school", "s", sql`${s.id} = listed.id`)}` as VisibleRows;

/** `schoolIsShown` for rows most of which are of one school, which is asked about once in a whole statement. */
const schoolOfMostIsShown = (client: Value, schoolId: Value, ofMost: Value): Sql => sql`
  CASE ${schoolId} WHEN ${ofMost} THEN ${schoolIsShown(client, ofMost)} ELSE ${schoolIsShown(client, schoolId)} END`;

/**
 * The school syncs the group to the app, whatever the group's status.
 *
 * Shape: `ofMost` is the school of most groups that the statement asks about, where it knows one: a parameter.
 */
export const groupIsSynced = (client: Value, groupId: Value, ofMost?: Value): Visible => {
  const shown =
    ofMost === undefined
      ? schoolIsShown(client, synced.schoolId)
      : schoolOfMostIsShown(client, synced.schoolId, ofMost);
  return visible(
    exists(sql`${synced} WHERE ${synced.clientId} = ${client} AND ${synced.groupId} = ${groupId} AND ${shown}`),
  );
};

/** The app sees the group by id and in lists. Shape: `ofMost` as for `groupIsSynced`. */
export const groupIsShown = (client: Value, { id, status }: Group, ofMost?: Value): Visible =>
  visible(sql`(${status} = 'ACTIVE' AND ${groupIsSynced(client, id, ofMost)})`);

const groupIsActive = (groupId: Value): Sql =>
  exists(sql`${group} WHERE ${group.id} = ${groupId} AND ${group.status} = 'ACTIVE'`);

/**
 * The app has the person among its people, soft-deleted ones too: a teacher or student
 * in at least one active group that its school syncs to the app.
 *
 * Shape: with `schoolId` only the groups of that school count.
 */
export function personIsSynced(client: Value, { id, role }: Columns<"id" | "role">, schoolId?: Value): Visible {
  const atSchool = schoolId === undefined ? sql`` : sql` AND ${member.schoolId} = ${schoolId}`;
  const inGroup = sql`${member} WHERE ${member.personId} = ${id}${atSchool}
    AND ${groupIsSynced(client, member.groupId, schoolId)} AND ${groupIsActive(member.groupId)}`;
  return visible(sql`(${role} <> 'OTHER' AND ${exists(inGroup)})`);
}

/** The app sees the person by id and in lists. */
export const personIsShown = (client: Value, person: Person, schoolId?: Value): Visible =>
  visible(sql`(${person.status} = 'ACTIVE' AND ${personIsSynced(client, person, schoolId)})`);

/**
 * The groups that stand in a user's, person's or subject's record: active, synced to the app, of whichever school.
 * What a soft-deleted person shows is what they would have on return, so the person's status does not matter.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `m` (membership) and `g` ("group").
 *        `ofMost` as for `groupIsSynced`.
 */
export const fromShownGroupsOf = (client: Value, personId: Value, ofMost?: Value): Sql => sql`
  FROM ${m} ${lookUp("group", "g", sql`${g.id} = ${m.groupId}`)}
  WHERE ${m.personId} = ${personId} AND ${groupIsShown(client, g, ofMost)}`;

/**
 * The members of a group. Whether the app sees the group is asked with `groupIsShown`.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `m` (membership) and `p` (person).
 */
export const fromShownMembersOf = (groupId: Value): Sql => sql`
  FROM ${m} ${lookUp("person", "p", sql`${p.id} = ${m.personId}`)}
  WHERE ${m.groupId} = ${groupId} AND ${p.status} = 'ACTIVE' AND ${p.role} <> 'OTHER'`;

/**
 * The schools of a person that the app may see.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `a` (affiliation) and `s` (school).
 */
export const fromShownSchoolsOf = (client: Value, personId: Value): Sql =>
  sql`FROM ${a} ${lookUp("school", "s", sql`${s.id} = ${a.schoolId}`)}
  WHERE ${a.personId} = ${personId} AND ${schoolIsShown(client, a.schoolId)}`;

/** The app may see a school of the person. */
export const personHasShownSchool = (client: Value, personId: Value): Visible =>
  visible(sql`EXISTS (SELECT ${fromShownSchoolsOf(client, personId)} OFFSET 0)`);

/** TEACHER or STUDENT: the role in the group, or the person's own where that says neither. */
export const memberRole = (membership: Columns<"role">, person: Columns<"role">): Sql =>
  sql`CASE ${membership.role} WHEN 'OTHER' THEN ${person.role} ELSE ${membership.role} END`;

const isAllowedGroup = (client: Value): Sql =>
  exists(sql`${allowed} WHERE ${allowed.clientId} = ${client} AND ${allowed.groupId} = ${member.groupId}`);

/** The grant `v_grant` of the school `v_at` is for the person. Shape: null where there is no grant. */
export const personIsInAudience = (client: Value, { id, role }: Columns<"id" | "role">): Sql => sql`
  CASE ${grant.signOnAudience}
    WHEN 'EVERYBODY' THEN true
    WHEN 'ROLES' THEN ${role} = ANY (${grant.signOnRoles})
    WHEN 'GROUPS' THEN ${exists(sql`${member}
      WHERE ${member.personId} = ${id} AND ${member.schoolId} = ${at.schoolId} AND ${groupIsActive(member.groupId)}
        AND ${isAllowedGroup(client)}`)}
    ELSE false END`;

/**
 * The schools whose own grant lets the person, while active, sign in to the app.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `v_at` (affiliation).
 */
export const fromSchoolsLettingIn = (client: Value, person: Columns<"id" | "role">): Sql => sql`
  FROM ${at} ${lookUp("grant", "v_grant", sql`${grant.clientId} = ${client} AND ${grant.schoolId} = ${at.schoolId}`)}
  WHERE ${at.personId} = ${person.id} AND ${personIsInAudience(client, person)}`;

/**
 * All schools of a person, each with what it gave the app, if anything.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `v_at` (affiliation) and `v_grant`.
 */
export const fromSchoolsWithGrant = (client: Value, person: Columns<"id">): Sql => sql`
  FROM ${at} LEFT JOIN ${grant} ON ${grant.clientId} = ${client} AND ${grant.schoolId} = ${at.schoolId}
  WHERE ${at.personId} = ${person.id}`;

/** The person may sign in to the app, through whichever of their schools. */
export const personMaySignIn = (client: Value, person: Person): Sql =>
  sql`(${person.status} = 'ACTIVE' AND EXISTS (SELECT ${fromSchoolsLettingIn(client, person)} OFFSET 0))`;

/** The school's list of users shows the person: at that school, which syncs, and may sign in. */
export const userIsShownAt = (client: Value, person: Person, schoolId: Value): Visible =>
  visible(sql`(${schoolIsShown(client, schoolId)}
  AND ${exists(sql`${here} WHERE ${here.personId} = ${person.id} AND ${here.schoolId} = ${schoolId}`)}
  AND ${personMaySignIn(client, person)})`);

/** The app sees the user by id: ever signed in to it, or shown by the list of one of the schools. */
export const userIsShown = (client: Value, person: Person): Visible =>
  visible(sql`(
  ${exists(sql`${signIn} WHERE ${signIn.clientId} = ${client} AND ${signIn.personId} = ${person.id}`)}
  OR (${exists(sql`${here} WHERE ${here.personId} = ${person.id} AND ${schoolIsShown(client, here.schoolId)}`)}
  AND ${personMaySignIn(client, person)}))`);
