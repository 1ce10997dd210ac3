import type { SchoolId } from "../directory/index.ts";
import { type Origin, recordAudit } from "../events/index.ts";
import type { PrismaDb, RecordStore, Transaction } from "../platform/database/db.ts";
import { fields, makeFind, makeRowLock, pick, searched, sql, table } from "../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../platform/database/sql.ts";
import { addDays } from "../platform/clock.ts";
import { AppError, refuseProperty } from "../platform/errors.ts";
import type { ConnectionId } from "./ids.ts";
import type { Profile } from "./profiles.ts";
import { isInGroups, isStaff, worksBeyondHome } from "./roster.ts";

export type WayInSettings = { linkName: string | null; localPasswords: boolean; emergencyUntil: Date | null };

/** A button of the sign-in page, and whether its school uses passwords besides. */
export type WayIn = Pick<WayInSettings, "localPasswords" | "emergencyUntil"> & {
  connectionId: ConnectionId;
  profile: Profile;
  name: string;
  schoolId: SchoolId;
  schoolName: string;
};

export type FoundSchool = { schoolId: SchoolId; name: string; city: string | null; linkName: string | null };

const school = table("school", "school");
const connection = table("upstreamConnection", "connection");
const wayIn = table("schoolWayIn", "way_in");

const listOn = makeFind<WayIn, { schoolId: SchoolId }>("upstream.listWaysIn")`
    SELECT ${fields<WayIn>({
      ...pick(connection, "profile", "name"),
      connectionId: connection.id,
      schoolId: school.id,
      schoolName: school.name,
      localPasswords: sql`coalesce(${wayIn.localPasswords}, true)`,
      emergencyUntil: wayIn.emergencyUntil,
    })}
    FROM ${connection} JOIN ${school} ON ${school.id} = ${connection.schoolId}
    LEFT JOIN ${wayIn} ON ${wayIn.schoolId} = ${connection.schoolId}
    WHERE ${connection.schoolId} = ${"schoolId"} AND ${connection.state} = 'ON' ORDER BY ${connection.id}`;

export const listWaysIn = (db: Queryable, schoolId: SchoolId): Promise<WayIn[]> => listOn(db, { schoolId });

const defaults: WayInSettings = { linkName: null, localPasswords: true, emergencyUntil: null };

export async function findWayInSettings({ prisma }: RecordStore, schoolId: SchoolId): Promise<WayInSettings> {
  return (await prisma.schoolWayIn.findUnique({ where: { schoolId }, omit: { schoolId: true } })) ?? defaults;
}

/** Whether the people at home in the school may sign in with a password now. */
export const allowsLocalPasswords = (
  { localPasswords, emergencyUntil }: Pick<WayInSettings, "localPasswords" | "emergencyUntil">,
  at: Date,
): boolean => localPasswords || (emergencyUntil !== null && emergencyUntil > at);

export const lockSchool = makeRowLock("school", "id", "upstream.lockSchool");
const linkNames = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * Errors: not_found school_not_found; invalid for a link name; conflict link_name_taken; conflict
 * school_has_no_connection, for a school that would have neither passwords nor a connection that is on.
 */
export async function putWayInIn(
  tx: Transaction,
  { schoolId, linkName, localPasswords }: { schoolId: SchoolId } & Omit<WayInSettings, "emergencyUntil">,
  origin: Origin,
): Promise<void> {
  await refuseUnknown(tx, schoolId);
  if (linkName !== null && (!linkNames.test(linkName) || linkName.length < 3 || linkName.length > 60))
    throw refuseProperty("text_malformed", "linkName", "must look like goethe-gymnasium, with 3 to 60 characters");
  if (!localPasswords && (await listWaysIn(tx, schoolId)).length === 0)
    throw new AppError(
      "conflict",
      "school_has_no_connection",
      "Switch a connection on before passwords are switched off.",
    );
  if (linkName !== null && (await tx.prisma.schoolWayIn.count({ where: { linkName, NOT: { schoolId } } })) > 0)
    throw new AppError("conflict", "link_name_taken", "Another school has this link name.");
  const data = { linkName, localPasswords };
  await tx.prisma.schoolWayIn.upsert({ where: { schoolId }, create: { schoolId, ...data }, update: data });
  await recordAudit(tx, { ...origin, action: "way_in_changed", schoolId, detail: { localPasswords } });
}

async function refuseUnknown(tx: Transaction, schoolId: SchoolId): Promise<void> {
  await lockSchool(tx, schoolId);
  if ((await tx.prisma.school.count({ where: { id: schoolId } })) === 0)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
}

/** Local passwords for a day. Errors: not_found school_not_found. */
export async function openEmergencyIn(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<Date> {
  await refuseUnknown(tx, schoolId);
  const data = { emergencyUntil: addDays(origin.at, 1) };
  await tx.prisma.schoolWayIn.upsert({ where: { schoolId }, create: { schoolId, ...data }, update: data });
  await recordAudit(tx, { ...origin, action: "upstream_emergency_opened", schoolId });
  return data.emergencyUntil;
}

export async function closeEmergencyIn(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<void> {
  const where = { schoolId, emergencyUntil: { gt: origin.at } };
  const { count } = await tx.prisma.schoolWayIn.updateMany({ where, data: { emergencyUntil: null } });
  if (count > 0) await recordAudit(tx, { ...origin, action: "upstream_emergency_closed", schoolId });
}

const mostFound = 20;
const mostWords = 5;

// Each word is somewhere in the name, the place or the post code; those whose name begins with the first come first.
const searchSchools = makeFind<FoundSchool, { words: string[] }>("upstream.searchSchools")`
    SELECT ${fields<FoundSchool>({
      schoolId: school.id,
      ...pick(school, "name", "city"),
      linkName: wayIn.linkName,
    })}
    FROM ${school} LEFT JOIN ${wayIn} ON ${wayIn.schoolId} = ${school.id}
    WHERE ${school.sandboxId} IS NULL
      AND EXISTS (SELECT FROM ${connection} WHERE ${connection.schoolId} = ${school.id} AND ${connection.state} = 'ON')
      AND ${searched(sql`concat_ws(' ', ${school.name}, ${school.city}, ${school.zipCode})`)} LIKE ALL (ARRAY(
        SELECT '%' || regexp_replace(${searched(sql`word`)}, '([\\\\%_])', '\\\\\\1', 'g') || '%'
          FROM unnest(${"words"}::text[]) AS word))
    ORDER BY strpos(lower(${school.name}), lower((${"words"}::text[])[1])) = 1 DESC, ${school.sortKey}, ${school.id}
    LIMIT ${mostFound}`;

/** Schools with a connection that is on, by words of name and place; twenty at most, none for less than two letters. */
export async function findSchoolsByWords({ pool }: Pick<PrismaDb, "pool">, text: string): Promise<FoundSchool[]> {
  const words = text
    .normalize("NFC")
    .slice(0, 200)
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  if (words.join("").length < 2) return [];
  return searchSchools(pool, { words: words.slice(0, mostWords) });
}

export async function findSchoolByLinkName({ prisma }: RecordStore, linkName: string): Promise<FoundSchool | null> {
  const wayIn = await prisma.schoolWayIn.findUnique({
    where: { linkName },
    select: { schoolId: true, school: { select: { name: true, city: true } } },
  });
  return wayIn && { schoolId: wayIn.schoolId as SchoolId, ...wayIn.school, linkName };
}

/** A login of the school's own. Times are ISO texts. */
export type SchoolLogin = {
  id: ConnectionId;
  name: string;
  /** Whether it is on for everybody, or for a class of the person. */
  isInClasses: boolean;
  /** False if the login lets in pupils only and the person is not a pupil. */
  isConfirmed: boolean;
  /** Null while it works. */
  failingSince: string | null;
  /** Null before the first sign-in, as `lastAt`. */
  linkedAt: string | null;
  lastAt: string | null;
};

const person = table("person", "person");
const link = table("upstreamLink", "link");

/** SQL of a JSON array of `SchoolLogin`: the home school's connections that are on; none for roles that use none. */
export const schoolLoginsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT coalesce(json_agg(json_build_object('id', ${connection.id}, 'name', ${connection.name},
    'isInClasses', ${isInGroups(sql`${connection.groupIds}`)},
    'isConfirmed', ${connection.confirmedForStaff} OR NOT ${isStaff(now)}, 'failingSince', ${connection.failingSince},
    'linkedAt', ${link.linkedAt}, 'lastAt', ${link.lastSignInAt}) ORDER BY ${connection.id}), '[]')
  FROM ${person} JOIN ${connection} ON ${connection.schoolId} = ${person.homeSchoolId} AND ${connection.state} = 'ON'
  LEFT JOIN ${link} ON ${link.connectionId} = ${connection.id} AND ${link.personId} = ${person.id}
    AND ${link.issuer} = ${connection.issuer}
  WHERE ${person.id} = ${personId} AND NOT ${worksBeyondHome(now)})`;
