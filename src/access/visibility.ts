import { exists, lookUp } from "../platform/lookup-sql.ts";

/**
 * A piece of SQL out of this code base: a parameter such as `$1` or a column such as `p.id`. Never input.
 * Names beginning with `v_` are taken by this file.
 */
export type Sql = string;

// Every rule is a chain of look-ups by a key, begun at the row it is asked of: the memberships of one person, the grant of one school.

/** The school syncs to the app. Without this it does not exist for the app. */
export const schoolIsShown = (client: Sql, schoolId: Sql): Sql =>
  exists(`"grant" v_grant WHERE v_grant.client_id = ${client} AND v_grant.school_id = ${schoolId} AND v_grant.sync`);

/** The ids of the schools that sync to the app, as a SELECT. */
export const shownSchools = (client: Sql): Sql =>
  `SELECT v_grant.school_id FROM "grant" v_grant WHERE v_grant.client_id = ${client} AND v_grant.sync`;

/** The school syncs the group to the app, whatever the group's status. */
export const groupIsSynced = (client: Sql, groupId: Sql): Sql =>
  exists(
    `synced_group v_synced WHERE v_synced.client_id = ${client} AND v_synced.group_id = ${groupId} AND ${schoolIsShown(client, "v_synced.school_id")}`,
  );

/** The app sees the group by id and in lists. Shape: `g` is the alias of a row of "group". */
export const groupIsShown = (client: Sql, g: Sql): Sql =>
  `(${g}.status = 'ACTIVE' AND ${groupIsSynced(client, `${g}.id`)})`;

const groupIsActive = (groupId: Sql): Sql =>
  exists(`"group" v_group WHERE v_group.id = ${groupId} AND v_group.status = 'ACTIVE'`);

/**
 * The app has the person among its people, soft-deleted ones too: a teacher or student
 * in at least one active group that its school syncs to the app.
 *
 * Shape: `p` is the alias of a row of person; with `schoolId` only the groups of that school count.
 */
export const personIsSynced = (client: Sql, p: Sql, schoolId?: Sql): Sql =>
  `(${p}.role <> 'OTHER' AND ${exists(`membership v_member
  WHERE v_member.person_id = ${p}.id${schoolId === undefined ? "" : ` AND v_member.school_id = ${schoolId}`}
    AND ${groupIsSynced(client, "v_member.group_id")} AND ${groupIsActive("v_member.group_id")}`)})`;

/** The app sees the person by id and in lists. */
export const personIsShown = (client: Sql, p: Sql, schoolId?: Sql): Sql =>
  `(${p}.status = 'ACTIVE' AND ${personIsSynced(client, p, schoolId)})`;

/**
 * The groups that stand in a user's, person's or subject's record: active, synced to the app, of whichever school.
 * What a soft-deleted person shows is what they would have on return, so the person's status does not matter.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `m` (membership) and `g` ("group").
 */
export const fromShownGroupsOf = (client: Sql, personId: Sql): Sql => `
  FROM membership m ${lookUp(`"group"`, "g", "g.id = m.group_id")}
  WHERE m.person_id = ${personId} AND ${groupIsShown(client, "g")}`;

/**
 * The members of a group. Whether the app sees the group is asked with `groupIsShown`.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `m` (membership) and `p` (person).
 */
export const fromShownMembersOf = (groupId: Sql): Sql => `
  FROM membership m ${lookUp("person", "p", "p.id = m.person_id")}
  WHERE m.group_id = ${groupId} AND p.status = 'ACTIVE' AND p.role <> 'OTHER'`;

/** TEACHER or STUDENT: the role in the group, or the person's own where that says neither. */
export const memberRole = (m: Sql, p: Sql): Sql => `CASE ${m}.role WHEN 'OTHER' THEN ${p}.role ELSE ${m}.role END`;

const personIsInAudience = (client: Sql, p: Sql): Sql => `CASE v_grant.sign_on_audience
    WHEN 'EVERYBODY' THEN true
    WHEN 'ROLES' THEN ${p}.role = ANY (v_grant.sign_on_roles)
    WHEN 'GROUPS' THEN ${exists(`membership v_member
      WHERE v_member.person_id = ${p}.id AND v_member.school_id = v_at.school_id AND ${groupIsActive("v_member.group_id")}
        AND ${exists(`grant_sign_on_group v_allowed WHERE v_allowed.client_id = ${client} AND v_allowed.group_id = v_member.group_id`)}`)}
    ELSE false END`;

/**
 * The schools whose own grant lets the person, while active, sign in to the app.
 *
 * Shape: a FROM with its WHERE, to be continued with AND or ORDER BY; binds `v_at` (affiliation).
 */
export const fromSchoolsLettingIn = (client: Sql, p: Sql): Sql => `
  FROM affiliation v_at ${lookUp(`"grant"`, "v_grant", `v_grant.client_id = ${client} AND v_grant.school_id = v_at.school_id`)}
  WHERE v_at.person_id = ${p}.id AND ${personIsInAudience(client, p)}`;

/** The person may sign in to the app, through whichever of their schools. */
export const personMaySignIn = (client: Sql, p: Sql): Sql =>
  `(${p}.status = 'ACTIVE' AND EXISTS (SELECT ${fromSchoolsLettingIn(client, p)} OFFSET 0))`;

/** The school's list of users shows the person: at that school, which syncs, and may sign in. */
export const userIsShownAt = (client: Sql, p: Sql, schoolId: Sql): Sql => `(${schoolIsShown(client, schoolId)}
  AND ${exists(`affiliation v_here WHERE v_here.person_id = ${p}.id AND v_here.school_id = ${schoolId}`)}
  AND ${personMaySignIn(client, p)})`;

/** The app sees the user by id: ever signed in to it, or shown by the list of one of the schools. */
export const userIsShown = (client: Sql, p: Sql): Sql => `(
  ${exists(`sign_in v_sign_in WHERE v_sign_in.client_id = ${client} AND v_sign_in.person_id = ${p}.id`)}
  OR (${exists(`affiliation v_here WHERE v_here.person_id = ${p}.id AND ${schoolIsShown(client, "v_here.school_id")}`)}
  AND ${personMaySignIn(client, p)}))`;
