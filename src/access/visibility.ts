import { literal, sql, table, type Columns, type Sql, type Value, exists, lookUp } from "../platform/database/sql.ts";
import type { Visible, VisibleRows } from "../platform/database/visible-sql.ts";
import type { IdKind, ScopeName } from "./token.ts";
import { isWithheldAnywhere, isWithheldAt, isWithheldOf, type PeopleReader } from "./withheld-sql.ts";

// Every rule is a chain of key look-ups, starting from the row in question. Aliases with `v_` belong to this file.

const grant = table("grant", "v_grant");
const synced = table("syncedGroup", "v_synced");
const group = table("group", "v_group");
const member = table("membership", "v_member");
const allowed = table("grantSignOnGroup", "v_allowed");
const at = table("affiliation", "v_at");
const here = table("affiliation", "v_here");
const signIn = table("signIn", "v_sign_in");
const move = table("idMove", "v_moved");
const event = table("appEvent", "v_event");
const m = table("membership", "m");
const g = table("group", "g");
const p = table("person", "p");
const a = table("affiliation", "a");
const s = table("school", "s");

/** A soft-deleted person is seen by `seenBy` too. */
type Known = Columns<"id" | "role" | "seenBy">;
type Person = Known & Columns<"status">;

const visible = (condition: Sql) => condition as Visible;

/** The condition, and no school withholds the scope of the request: the school itself, or any of the person's. */
export function visibleBy(scope: ScopeName, of: OfRecord, condition: Visible): Visible {
  const isWithheld =
    "personId" in of
      ? isWithheldOf(of, scope, of.personId)
      : sql`(${isWithheldAnywhere(of.client, scope)} AND ${isWithheldAt(of.client, scope, of.schoolId)})`;
  return visible(sql`(${condition} AND NOT ${isWithheld})`);
}

/** `from` ends with a WHERE. */
export const existsWith = (from: Sql, condition: Visible): Visible => visible(exists(sql`${from} AND ${condition}`));

/** The change feed of the app tells that it no longer sees a person whom it knew by this id. */
export const personHasLeft = (client: Value, id: Value, kind: IdKind): Visible => {
  const subject = kind === "own" ? event.appSubjectId : event.subjectId;
  return visible(
    exists(sql`${event} WHERE ${subject} = ${id} AND ${event.clientId} = ${client}
      AND ${event.type} = 'person' AND ${event.action} = 'delete'`),
  );
};

export const either = (one: Visible, other: Visible): Visible => visible(sql`(${one} OR ${other})`);

const reader = table("app", "v_registered");

/** OneRoster shows what the IDM API shows to the app by the scope, which its registration must have too. */
export const visibleInRoster = (scope: ScopeName, of: OfRecord, condition: Visible): Visible =>
  visible(sql`((SELECT ${literal(scope)} = ANY (${reader.scopes}) FROM ${reader} WHERE ${reader.clientId} = ${of.client})
  AND ${visibleBy("oneroster:read", of, visibleBy(scope, of, condition))})`);

type OfRecord = { client: Value; schoolId: Sql } | (PeopleReader & { personId: Sql });

/** The app is asked: at once if the person was deleted, otherwise `waitDays` after it last saw them. */
export const erasureIsAsked = (
  client: Value,
  { clientId, cause, since, acknowledgedAt }: Columns<"clientId" | "cause" | "since" | "acknowledgedAt">,
  { now, waitDays }: { now: Value; waitDays: Value },
): Visible =>
  visible(sql`(${clientId} = ${client}
  AND (${cause} = 'deleted' OR ${acknowledgedAt} IS NOT NULL OR ${since} <= ${now}::timestamptz - make_interval(days => ${waitDays}::int)))`);

/** The school syncs to the app; otherwise it does not exist for the app. */
export const schoolIsShown = (client: Value, schoolId: Value): Visible =>
  visible(
    exists(sql`${grant} WHERE ${grant.clientId} = ${client} AND ${grant.schoolId} = ${schoolId} AND ${grant.sync}`),
  );

export const shownSchools = (client: Value): Sql =>
  sql`SELECT ${grant.schoolId} FROM ${grant} WHERE ${grant.clientId} = ${client} AND ${grant.sync}`;

/** FROM, binding `listed` (sort_key, id) and `s`: the schools that sync to the app, ordered by an index. */
export const fromShownSchools = (client: Value): VisibleRows =>
  sql`(
  SELECT ${grant.schoolSortKey}, ${grant.schoolId} FROM ${grant} WHERE ${grant.clientId} = ${client} AND ${grant.sync}
    AND NOT (${isWithheldAnywhere(client, "schools:read")} AND ${isWithheldAt(client, "schools:read", grant.schoolId)})
  ) AS listed (sort_key, id) ${lookUp("school", "s", sql`${s.id} = listed.id`)}` as VisibleRows;

const schoolOfMostIsShown = (client: Value, schoolId: Value, ofMost: Value): Sql => sql`
  CASE ${schoolId} WHEN ${ofMost} THEN ${schoolIsShown(client, ofMost)} ELSE ${schoolIsShown(client, schoolId)} END`;

/** The school syncs the group, active or not. `ofMost`: a parameter with the school of most rows, if known. */
export const groupIsSynced = (client: Value, groupId: Value, ofMost?: Value): Visible => {
  const columns =
    ofMost === undefined
      ? schoolIsShown(client, synced.schoolId)
      : schoolOfMostIsShown(client, synced.schoolId, ofMost);
  return visible(
    exists(sql`${synced} WHERE ${synced.clientId} = ${client} AND ${synced.groupId} = ${groupId} AND ${columns}`),
  );
};

/** The app sees the group. `ofMost` as for `groupIsSynced`. */
export const groupIsShown = (client: Value, { id, status }: Columns<"id" | "status">, ofMost?: Value): Visible =>
  visible(sql`(${status} = 'ACTIVE' AND ${groupIsSynced(client, id, ofMost)})`);

const groupIsActive = (groupId: Value): Sql =>
  exists(sql`${group} WHERE ${group.id} = ${groupId} AND ${group.status} = 'ACTIVE'`);

/** A key in `seenBy`: through this school the app saw the person as a synced person, or as a user whom it let in. */
export const seenKey = (as: "person" | "user", client: Value, schoolId: Value): Sql =>
  sql`(${literal(`${as} `)} || ${client}::text || ' ' || ${schoolId}::uuid)`;

/**
 * The person is synced to the app, soft-deleted or not: a teacher or student in an active group that its school (or
 * `schoolId`) syncs. A soft-deleted person whom the app saw stays while the school syncs, whatever becomes of groups.
 */
export function personIsSynced(client: Value, { id, role, seenBy }: Known, schoolId?: Value): Visible {
  const inGroup = sql`${member} WHERE ${member.personId} = ${id} ${atSchool(member, schoolId)}
    AND ${groupIsSynced(client, member.groupId, schoolId)} AND ${groupIsActive(member.groupId)}`;
  return visible(sql`(${role} <> 'OTHER' AND (${exists(inGroup)} OR ${wasSeen(client, { id, seenBy }, schoolId)}))`);
}

const atSchool = (of: Columns<"schoolId">, schoolId: Value | undefined): Sql =>
  schoolId === undefined ? sql`` : sql`AND ${of.schoolId} = ${schoolId}`;

const wasSeen = (client: Value, { id, seenBy }: Columns<"id" | "seenBy">, schoolId: Value | undefined): Sql => sql`
  (${seenBy} IS NOT NULL AND ${exists(sql`${at}
    WHERE ${at.personId} = ${id} ${atSchool(at, schoolId)}
    AND ${seenBy} ? ${seenKey("person", client, at.schoolId)} AND ${schoolIsShown(client, at.schoolId)}`)})`;

const exception = table("person", "v_exception");
const fromException = (personId: Value): Sql => sql`${exception}
  WHERE ${exception.id} = ${personId} AND (${exception.role} = 'OTHER' OR ${exception.status} <> 'ACTIVE')`;

/**
 * The same as `personIsSynced`, where `isMember` says that the person is in an active group that is synced. Few people
 * are in the index that it looks at.
 */
export const isSyncedAs = (
  { isMember, personId }: { isMember: Sql; personId: Sql },
  client: Value,
  schoolId?: Value,
): Visible =>
  visible(sql`CASE WHEN ${isMember} THEN NOT ${exists(sql`${fromException(personId)} AND ${exception.role} = 'OTHER'`)}
  ELSE ${exists(sql`${fromException(personId)} AND ${exception.role} <> 'OTHER'
    AND ${wasSeen(client, exception, schoolId)}`)} END`);

export const wasSoftDeletedBefore = (time: Sql, personId: Sql): Sql =>
  exists(sql`${fromException(personId)} AND ${exception.softDeletedAt} < ${time}`);

export const personIsShown = (client: Value, person: Person, schoolId?: Value): Visible =>
  visible(sql`(${person.status} = 'ACTIVE' AND ${personIsSynced(client, person, schoolId)})`);

/**
 * FROM and WHERE, binding `m` and `g`: the person's active, synced groups; for soft-deleted people those they would
 * have after a restore. `ofMost` as for `groupIsSynced`.
 */
export const fromShownGroupsOf = (client: Value, personId: Value, ofMost?: Value): Sql => sql`
  FROM ${m} ${lookUp("group", "g", sql`${g.id} = ${m.groupId}`)}
  WHERE ${m.personId} = ${personId} AND ${groupIsShown(client, g, ofMost)}`;

/** FROM and WHERE, binding `m` and `p`: members of a group that the app sees. */
export const fromShownMembersOf = (groupId: Value): Sql => sql`
  FROM ${m} ${lookUp("person", "p", sql`${p.id} = ${m.personId}`)}
  WHERE ${m.groupId} = ${groupId} AND ${p.status} = 'ACTIVE' AND ${p.role} <> 'OTHER'`;

/** FROM and WHERE, binding `a` and `s`: the person's schools that the app sees. */
export const fromShownSchoolsOf = (client: Value, personId: Value): Sql =>
  sql`FROM ${a} ${lookUp("school", "s", sql`${s.id} = ${a.schoolId}`)}
  WHERE ${a.personId} = ${personId} AND ${schoolIsShown(client, a.schoolId)}`;

/** The schools of a person that granted the app anything. */
export const schoolsOfPerson = (client: Value, personId: Value): Sql =>
  sql`SELECT ${a.schoolId} FROM ${a} WHERE ${a.personId} = ${personId}
  AND ${exists(sql`${grant} WHERE ${grant.clientId} = ${client} AND ${grant.schoolId} = ${a.schoolId}`)}`;

export const personHasShownSchool = (client: Value, personId: Value): Visible =>
  visible(sql`EXISTS (SELECT ${fromShownSchoolsOf(client, personId)} OFFSET 0)`);

/** The role in the group; the person's own if that is OTHER. */
export const memberRole = (membership: Columns<"role">, person: Columns<"role">): Sql =>
  sql`CASE ${membership.role} WHEN 'OTHER' THEN ${person.role} ELSE ${membership.role} END`;

const isAllowedGroup = (client: Value): Sql =>
  exists(sql`${allowed} WHERE ${allowed.clientId} = ${client} AND ${allowed.groupId} = ${member.groupId}`);

/**
 * Whether grant `v_grant` of school `v_at` lets the person in, or would after a restore; null without a grant. What
 * becomes of groups takes the right from no soft-deleted person.
 */
export const personIsInAudience = (client: Value, { id, role, seenBy }: Known): Sql => sql`
  CASE ${grant.signOnAudience}
    WHEN 'EVERYBODY' THEN true
    WHEN 'ROLES' THEN ${role} = ANY (${grant.signOnRoles})
    WHEN 'GROUPS' THEN ${exists(sql`${member}
      WHERE ${member.personId} = ${id} AND ${member.schoolId} = ${at.schoolId} AND ${groupIsActive(member.groupId)}
        AND ${isAllowedGroup(client)}`)} OR coalesce(${seenBy} ? ${seenKey("user", client, at.schoolId)}, false)
    ELSE false END`;

/** FROM and WHERE, binding `v_at`: the person's schools that let them sign in. */
export const fromSchoolsLettingIn = (client: Value, person: Known): Sql => sql`
  FROM ${at} ${lookUp("grant", "v_grant", sql`${grant.clientId} = ${client} AND ${grant.schoolId} = ${at.schoolId}`)}
  WHERE ${at.personId} = ${person.id} AND ${personIsInAudience(client, person)}`;

/** FROM and WHERE, binding `v_at` and `v_grant`: the person's schools, each with its grant or nulls. */
export const fromSchoolsWithGrant = (client: Value, person: Columns<"id">): Sql => sql`
  FROM ${at} LEFT JOIN ${grant} ON ${grant.clientId} = ${client} AND ${grant.schoolId} = ${at.schoolId}
  WHERE ${at.personId} = ${person.id}`;

/** SELECT of school_id, id, is_shown and lets_in: whether the app sees each school, which lets the person sign in. */
export const selectSchoolsOf = (client: Value, person: Known): Sql => sql`
  SELECT ${at.schoolId}, ${at.id}, coalesce(${grant.sync}, false) AS is_shown,
    coalesce(${personIsInAudience(client, person)}, false) AS lets_in
  ${fromSchoolsWithGrant(client, person)}`;

export const personMaySignIn = (client: Value, person: Person): Sql =>
  sql`(${person.status} = 'ACTIVE' AND EXISTS (SELECT ${fromSchoolsLettingIn(client, person)} OFFSET 0))`;

export const userIsShownAt = (client: Value, person: Person, schoolId: Value): Visible =>
  visible(sql`(${schoolIsShown(client, schoolId)}
  AND ${exists(sql`${here} WHERE ${here.personId} = ${person.id} AND ${here.schoolId} = ${schoolId}`)}
  AND ${personMaySignIn(client, person)})`);

const hasSignedIn = (client: Value, personId: Value): Sql =>
  exists(sql`${signIn} WHERE ${signIn.clientId} = ${client} AND ${signIn.personId} = ${personId}`);

/** The same as `userIsShown`, where `isListed` says that a school of the person is shown and one lets them in. */
export const userIsShownIf = (isListed: Sql, client: Value, { id }: Columns<"id">): Visible =>
  visible(sql`(${isListed} OR ${hasSignedIn(client, id)})`);

/** The app sees the user: they have signed in, or a school's list includes them, or would if they were not deleted. */
export const userIsShown = (client: Value, person: Known): Visible =>
  visible(sql`(
  ${hasSignedIn(client, person.id)}
  OR (${exists(sql`${here} WHERE ${here.personId} = ${person.id} AND ${schoolIsShown(client, here.schoolId)}`)}
  AND EXISTS (SELECT ${fromSchoolsLettingIn(client, person)} OFFSET 0)))`);

/** The app knew somebody by an id of this sector, which a move to ids of its own changes. */
export const isKnownSector = (client: Value, sector: Value): Visible =>
  // A value, so that an index returns the ids in their order.
  visible(sql`${sector} = (
  SELECT ${move.oldSector} FROM ${move}
  WHERE ${move.clientId} = ${client} AND ${move.state} IN ('RUNNING', 'CUT_OVER') AND ${move.forgottenAt} IS NULL)`);
