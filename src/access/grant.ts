import type { Prisma } from "../../generated/prisma/client.ts";
import { originOf, type Change, type GroupId, type PersonRole, type SchoolId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { RecordStore, Store, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Records } from "../platform/database/prisma.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import { listAppPlaces } from "./find-app.ts";
import type { ClientId } from "./token.ts";

export type SignOnAudience =
  | { kind: "NOBODY" }
  | { kind: "EVERYBODY" }
  | { kind: "ROLES"; roles: readonly [PersonRole, ...PersonRole[]] }
  | { kind: "GROUPS"; groups: readonly GroupId[] };

/** What names a school grant: the app that has it and the school that gives it. */
export type GrantKey = { clientId: ClientId; schoolId: SchoolId };

/** What a school gives an app. The synced groups are remembered while `sync` is off. */
export type GrantSettings = GrantKey & {
  signOn: SignOnAudience;
  sync: boolean;
  syncedGroups: readonly GroupId[];
};

/**
 * Sets the whole grant of a school for an app, whatever it was.
 *
 * Errors: not_found app_or_school_not_found; invalid group_of_other_school.
 */
export async function setGrant(change: Change, grant: GrantSettings): Promise<void> {
  const { clientId, schoolId, signOn, sync } = grant;
  await openGrant(change, grant);
  await writeAudience(change, grant, signOn);
  await writeSync(change, grant, sync);
  await replaceGroups(change.tx, "syncedGroup", { ...grant, groups: grant.syncedGroups });
  const line = { action: "grant_set", clientId, schoolId, detail: { signOn: signOn.kind, sync } };
  await recordAudit(change.tx, { ...originOf(change), ...line });
}

/**
 * Sets who of the school may sign in to the app; sync stays as it is.
 *
 * Errors: as `setGrant`.
 */
export async function setSignOn(
  change: Change,
  { signOn, ...key }: GrantKey & { signOn: SignOnAudience },
): Promise<void> {
  await openGrant(change, key);
  await writeAudience(change, key, signOn);
  const { kind, ...of } = signOn;
  await recordAudit(change.tx, { ...originOf(change), action: "sign_on_set", ...key, detail: { signOn: kind, ...of } });
}

/**
 * Switches sync; sign-on and the synced groups stay as they are.
 *
 * Shape:  false where it was so already; then nothing was written.
 * Errors: not_found app_or_school_not_found.
 */
export async function setSync(change: Change, { sync, ...key }: GrantKey & { sync: boolean }): Promise<boolean> {
  const before = await openGrant(change, key);
  if (before.sync === sync) return false;
  await writeSync(change, key, sync);
  const action = sync ? "sync_switched_on" : "sync_switched_off";
  await recordAudit(change.tx, { ...originOf(change), action, ...key });
  return true;
}

/**
 * Chooses the groups that the school syncs to the app, whether or not sync is on.
 *
 * Shape:  false where they were so already; then nothing was written.
 * Errors: as `setGrant`.
 */
export async function setSyncedGroups(
  change: Change,
  { groups, ...key }: GrantKey & { groups: readonly GroupId[] },
): Promise<boolean> {
  await openGrant(change, key);
  const differs = await replaceGroups(change.tx, "syncedGroup", { ...key, groups });
  if (!differs) return false;
  await recordAudit(change.tx, { ...originOf(change), action: "synced_groups_set", ...key, detail: { groups } });
  return true;
}

/**
 * Takes everything back that the school gave the app.
 *
 * Errors: not_found grant_not_found.
 */
export async function withdrawGrant(change: Change, { clientId, schoolId }: GrantKey): Promise<void> {
  await change.touchSchool(schoolId, clientId);
  const { count } = await change.tx.prisma.grant.deleteMany({ where: { clientId, schoolId } });
  if (count === 0) throw new AppError("not_found", "grant_not_found", "The school has given this app nothing.");
  await recordAudit(change.tx, { ...originOf(change), action: "grant_withdrawn", clientId, schoolId });
}

const withGroups = {
  clientId: true,
  schoolId: true,
  signOnAudience: true,
  signOnRoles: true,
  sync: true,
  syncedGroups: { select: { groupId: true }, orderBy: { groupId: "asc" } },
  signOnGroups: { select: { groupId: true }, orderBy: { groupId: "asc" } },
} satisfies Prisma.GrantSelect;

type StoredGrant = Prisma.GrantGetPayload<{ select: typeof withGroups }>;

const idsOf = (rows: readonly { groupId: string }[]): GroupId[] => rows.map(({ groupId }) => groupId as GroupId);

function audienceOf({ signOnAudience: kind, signOnRoles, signOnGroups }: StoredGrant): SignOnAudience {
  // An audience of roles has one at least, by a constraint.
  if (kind === "ROLES") return { kind, roles: signOnRoles as [PersonRole, ...PersonRole[]] };
  return kind === "GROUPS" ? { kind, groups: idsOf(signOnGroups) } : { kind };
}

const presentGrant = (grant: StoredGrant): GrantSettings => ({
  clientId: grant.clientId as ClientId,
  schoolId: grant.schoolId as SchoolId,
  sync: grant.sync,
  signOn: audienceOf(grant),
  syncedGroups: idsOf(grant.syncedGroups),
});

/** The grants of an app, of a school, or of both. */
export async function listGrants(
  { prisma }: RecordStore,
  { limit, clientId, schoolId }: Partial<GrantKey> & { limit: number },
): Promise<GrantSettings[]> {
  const where = { ...(clientId !== undefined && { clientId }), ...(schoolId !== undefined && { schoolId }) };
  const orderBy: Prisma.GrantOrderByWithRelationInput[] = [{ clientId: "asc" }, { schoolId: "asc" }];
  return (await prisma.grant.findMany({ where, select: withGroups, orderBy, take: limit })).map(presentGrant);
}

/** What a school gives some apps; an app to which it gave nothing is missing. */
export async function findGrants(
  { prisma }: RecordStore,
  { schoolId, clientIds }: { schoolId: SchoolId; clientIds: readonly ClientId[] },
): Promise<GrantSettings[]> {
  const where = { schoolId, clientId: { in: [...clientIds] } };
  return (await prisma.grant.findMany({ where, select: withGroups })).map(presentGrant);
}

/** Null where the school has given the app nothing. */
export async function findGrant(db: RecordStore, key: GrantKey): Promise<GrantSettings | null> {
  return (await listGrants(db, { ...key, limit: 1 }))[0] ?? null;
}

type GrantsAsked = { [Name in keyof GrantKey]?: GrantKey[Name] | undefined } & {
  /** Only grants of these schools, and those that these apps have. */
  among?: { schoolIds: readonly SchoolId[]; clientIds: readonly ClientId[] } | undefined;
  limit: number;
  /** The last grant of the page before, with the place of its app. */
  after?: { place: string; schoolId: SchoolId } | undefined;
};

type Page = { apps: readonly string[]; amongSchools: readonly string[] | null; amongApps: readonly string[] | null } & {
  [Name in "schoolId" | "lastApp" | "lastSchool"]: string | null;
} & { limit: number };

const s = table("school", "s");
const last = table("school", "last_school");
const listed = table("grant", "listed");

type Named = GrantKey & { schoolName: string };

const selectPage = statement<Page>(
  (given) => sql`
  SELECT ${fields<Named>({ clientId: listed.clientId, schoolId: listed.schoolId, schoolName: s.name })}
  FROM unnest(${given.apps}::text[]) WITH ORDINALITY AS app (client_id, place)
  JOIN ${listed} ON ${listed.clientId} = app.client_id
  JOIN ${s} ON ${s.id} = ${listed.schoolId}
  WHERE (${given.schoolId}::uuid IS NULL OR ${listed.schoolId} = ${given.schoolId})
    AND (${given.amongSchools}::uuid[] IS NULL OR ${listed.schoolId} = ANY (${given.amongSchools})
      OR ${listed.clientId} = ANY (${given.amongApps}::text[]))
    AND (app.client_id IS DISTINCT FROM ${given.lastApp}::text OR (${s.sortKey}, ${s.id}) > (
      SELECT ${last.sortKey}, ${last.id} FROM ${last} WHERE ${last.id} = ${given.lastSchool}::uuid))
  ORDER BY app.place, ${s.sortKey}, ${s.id} LIMIT ${given.limit}`,
  "access.listGrantsByName",
);

/** A page of grants by names of app and school, each with the place of its app and the name of its school. */
export async function listGrantsByName(
  db: Store,
  { clientId, schoolId, among, limit, after }: GrantsAsked,
): Promise<(GrantSettings & { place: string; schoolName: string })[]> {
  const places = await listAppPlaces(db, { among: clientId === undefined ? undefined : [clientId] });
  const left = places.filter(({ place }) => after === undefined || place >= after.place);
  const page = await findRows<Named, Page>(db, selectPage, {
    apps: left.map((app) => app.clientId),
    amongSchools: among?.schoolIds ?? null,
    amongApps: among?.clientIds ?? null,
    schoolId: schoolId ?? null,
    lastApp: left.find(({ place }) => place === after?.place)?.clientId ?? null,
    limit,
    lastSchool: after?.schoolId ?? null,
  });
  const where = { OR: page.map((key) => ({ clientId: key.clientId, schoolId: key.schoolId })) };
  const found = (await db.prisma.grant.findMany({ where, select: withGroups })).map(presentGrant);
  const byKey = new Map(found.map((grant) => [`${grant.clientId} ${grant.schoolId}`, grant]));
  const placeOf = new Map(left.map((app) => [app.clientId, app.place]));
  return page.flatMap((key) => {
    const grant = byKey.get(`${key.clientId} ${key.schoolId}`);
    return grant === undefined ? [] : [{ ...grant, place: placeOf.get(key.clientId)!, schoolName: key.schoolName }];
  });
}

const whereKey = ({ clientId, schoolId }: GrantKey) => ({ clientId_schoolId: { clientId, schoolId } });

const given = table("grant", "given");

const lockRow = statement<GrantKey>(
  ({ clientId, schoolId }) => sql`
  SELECT FROM ${given} WHERE ${given.clientId} = ${clientId} AND ${given.schoolId} = ${schoolId} FOR NO KEY UPDATE`,
  "access.lockGrant",
);

/** The grant to be altered, locked until the end of the change; one that gives nothing where there was none. */
async function openGrant({ tx, now, ...change }: Change, { clientId, schoolId }: GrantKey): Promise<{ sync: boolean }> {
  await change.touchSchool(schoolId, clientId);
  const data = [{ clientId, schoolId, signOnRoles: [], createdAt: now, updatedAt: now }];
  await tx.prisma.grant.createMany({ data, skipDuplicates: true }).catch((error: unknown) => {
    const { constraint } = error as { constraint?: string };
    throw missing.has(constraint ?? "") ? notFound() : error;
  });
  await findRows(tx, lockRow, { clientId, schoolId });
  return tx.prisma.grant.findUniqueOrThrow({ where: whereKey({ clientId, schoolId }), select: { sync: true } });
}

// For all apps but its own a school of a sandbox does not exist.
const missing: ReadonlySet<string> = new Set(["grant_client_id_fkey", "grant_school_id_fkey", "grant_sandbox_fkey"]);

const notFound = () => new AppError("not_found", "app_or_school_not_found", "There is no such app or no such school.");

async function writeAudience({ tx, now }: Change, key: GrantKey, signOn: SignOnAudience): Promise<void> {
  const signOnRoles = signOn.kind === "ROLES" ? [...new Set(signOn.roles)] : [];
  const data = { signOnAudience: signOn.kind, signOnRoles, updatedAt: now };
  await tx.prisma.grant.update({ where: whereKey(key), data });
  await replaceGroups(tx, "grantSignOnGroup", { ...key, groups: signOn.kind === "GROUPS" ? signOn.groups : [] });
}

async function writeSync({ tx, now }: Change, key: GrantKey, sync: boolean): Promise<void> {
  await tx.prisma.grant.update({ where: whereKey(key), data: { sync, updatedAt: now } });
}

type ChosenGroups = GrantKey & { groups: readonly GroupId[] };

/** Answers whether the groups are others than before. Errors: invalid group_of_other_school. */
async function replaceGroups(
  { prisma }: Transaction,
  of: "syncedGroup" | "grantSignOnGroup",
  { clientId, schoolId, groups }: ChosenGroups,
): Promise<boolean> {
  const wanted = [...new Set(groups)];
  if ((await prisma.group.count({ where: { schoolId, id: { in: wanted } } })) !== wanted.length)
    throw new AppError("invalid", "group_of_other_school", "A group is not of this school.");
  const rows: GroupRows = prisma[of];
  const deleted = await rows.deleteMany({ where: { clientId, schoolId, groupId: { notIn: wanted } } });
  const data = wanted.map((groupId) => ({ clientId, schoolId, groupId }));
  const added = await rows.createMany({ data, skipDuplicates: true });
  return deleted.count + added.count > 0;
}

type GroupRows = Pick<Records["syncedGroup"], "deleteMany" | "createMany">;
