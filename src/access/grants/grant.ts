import type { Prisma } from "../../../generated/prisma/client.ts";
import { auditChange, refuseConstraints } from "../../directory/index.ts";
import type { Change, GroupId, PersonRole, SchoolId } from "../../directory/index.ts";
import type { RecordStore, Store, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import type { Records } from "../../platform/database/prisma.ts";
import { fields, makeFind, makeRun, table } from "../../platform/database/sql.ts";
import { listAppPlaces } from "../apps/find.ts";
import type { ClientId } from "../token.ts";

export type SignOnAudience =
  | { kind: "NOBODY" }
  | { kind: "EVERYBODY" }
  | { kind: "ROLES"; roles: readonly [PersonRole, ...PersonRole[]] }
  | { kind: "GROUPS"; groups: readonly GroupId[] };

export type GrantKey = { clientId: ClientId; schoolId: SchoolId };

export type GrantSettings = GrantKey & {
  signOn: SignOnAudience;
  sync: boolean;
  syncedGroups: readonly GroupId[];
};

/** Replaces the whole grant. Errors: not_found app_or_school_not_found; invalid group_of_other_school. */
export async function setGrant(change: Change, grant: GrantSettings): Promise<void> {
  const { clientId, schoolId, signOn, sync } = grant;
  await openGrant(change, grant);
  await writeAudience(change, grant, signOn);
  await writeSync(change, grant, sync);
  await replaceGroups(change.tx, "syncedGroup", { ...grant, groups: grant.syncedGroups });
  await auditChange(change, { action: "grant_set", clientId, schoolId, detail: { signOn: signOn.kind, sync } });
}

export async function setSignOn(change: Change, { signOn, ...key }: GrantKey & { signOn: SignOnAudience }) {
  await openGrant(change, key);
  await writeAudience(change, key, signOn);
  const { kind, ...of } = signOn;
  await auditChange(change, { action: "sign_on_set", ...key, detail: { signOn: kind, ...of } });
}

/** Returns false, and writes nothing, if sync is in this state. Errors: not_found app_or_school_not_found. */
export async function setSync(change: Change, { sync, ...key }: GrantKey & { sync: boolean }): Promise<boolean> {
  if ((await openGrant(change, key)).sync === sync) return false;
  await writeSync(change, key, sync);
  const action = sync ? "sync_switched_on" : "sync_switched_off";
  await auditChange(change, { action, ...key });
  return true;
}

/** Returns false, and writes nothing, if these groups are chosen. Errors: as `setGrant`. */
export async function setSyncedGroups(change: Change, { groups, ...key }: GrantKey & { groups: readonly GroupId[] }) {
  await openGrant(change, key);
  if (!(await replaceGroups(change.tx, "syncedGroup", { ...key, groups }))) return false;
  await auditChange(change, { action: "synced_groups_set", ...key, detail: { groups } });
  return true;
}

export async function withdrawGrant(change: Change, { clientId, schoolId }: GrantKey): Promise<void> {
  await change.touchSchool(schoolId, clientId);
  const { count } = await change.tx.prisma.grant.deleteMany({ where: { clientId, schoolId } });
  if (count === 0) throw new AppError("not_found", "grant_not_found", "The school has given this app nothing.");
  await auditChange(change, { action: "grant_withdrawn", clientId, schoolId });
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

export async function listGrants(
  { prisma }: RecordStore,
  { limit, ...where }: Prisma.GrantWhereInput & { limit?: number | undefined },
): Promise<GrantSettings[]> {
  const orderBy: Prisma.GrantOrderByWithRelationInput[] = [{ clientId: "asc" }, { schoolId: "asc" }];
  const query = { where, select: withGroups, orderBy, ...(limit !== undefined && { take: limit }) };
  return (await prisma.grant.findMany(query)).map(presentGrant);
}

export async function findGrant(db: RecordStore, { clientId, schoolId }: GrantKey): Promise<GrantSettings | null> {
  return (await listGrants(db, { clientId, schoolId, limit: 1 }))[0] ?? null;
}

type GrantFilter = { [Name in keyof GrantKey]?: GrantKey[Name] | undefined } & {
  among?: { schoolIds: readonly SchoolId[]; clientIds: readonly ClientId[] } | undefined;
  limit: number;
  after?: { place: string; schoolId: SchoolId } | undefined;
};

type Page = { apps: readonly string[]; limit: number } & {
  [List in "amongSchools" | "amongApps"]: readonly string[] | undefined;
} & { [Id in "schoolId" | "lastApp" | "lastSchool"]: string | undefined };

const s = table("school", "s");
const last = table("school", "last_school");
const listed = table("grant", "listed");

type Named = GrantKey & { schoolName: string };

const selectPage = makeFind<Named, Page>("access.listGrantsByName")`
  SELECT ${fields<Named>({ clientId: listed.clientId, schoolId: listed.schoolId, schoolName: s.name })}
  FROM unnest(${"apps"}::text[]) WITH ORDINALITY AS app (client_id, place)
  JOIN ${listed} ON ${listed.clientId} = app.client_id
  JOIN ${s} ON ${s.id} = ${listed.schoolId}
  WHERE (${"schoolId"}::uuid IS NULL OR ${listed.schoolId} = ${"schoolId"})
    AND (${"amongSchools"}::uuid[] IS NULL OR ${listed.schoolId} = ANY (${"amongSchools"})
      OR ${listed.clientId} = ANY (${"amongApps"}::text[]))
    AND (app.client_id IS DISTINCT FROM ${"lastApp"}::text OR (${s.sortKey}, ${s.id}) > (
      SELECT ${last.sortKey}, ${last.id} FROM ${last} WHERE ${last.id} = ${"lastSchool"}::uuid))
  ORDER BY app.place, ${s.sortKey}, ${s.id} LIMIT ${"limit"}`;

export async function listGrantsByName(
  db: Store,
  { clientId, schoolId, among, limit, after }: GrantFilter,
): Promise<(GrantSettings & { place: string; schoolName: string })[]> {
  const places = await listAppPlaces(db, { among: clientId === undefined ? undefined : [clientId] });
  const remaining = places.filter(({ place }) => after === undefined || place >= after.place);
  const page = await selectPage(db, {
    apps: remaining.map((app) => app.clientId),
    amongSchools: among?.schoolIds,
    amongApps: among?.clientIds,
    schoolId,
    lastApp: remaining.find(({ place }) => place === after?.place)?.clientId,
    lastSchool: after?.schoolId,
    limit,
  });
  const grants = await listGrants(db, { OR: page.map((row) => ({ clientId: row.clientId, schoolId: row.schoolId })) });
  const byKey = new Map(grants.map((grant) => [`${grant.clientId} ${grant.schoolId}`, grant]));
  const placeOf = new Map(remaining.map((app) => [app.clientId, app.place]));
  return page.flatMap((key) => {
    const grant = byKey.get(`${key.clientId} ${key.schoolId}`);
    return grant === undefined ? [] : [{ ...grant, place: placeOf.get(key.clientId)!, schoolName: key.schoolName }];
  });
}

const whereKey = ({ clientId, schoolId }: GrantKey) => ({ clientId_schoolId: { clientId, schoolId } });

const locked = table("grant", "locked");

const lockRow = makeRun<GrantKey>("access.lockGrant")`
  SELECT FROM ${locked} WHERE ${locked.clientId} = ${"clientId"} AND ${locked.schoolId} = ${"schoolId"}
    FOR NO KEY UPDATE`;

/** Locks the grant until the transaction ends; creates an empty one if necessary. */
async function openGrant({ tx, now, ...change }: Change, { clientId, schoolId }: GrantKey): Promise<{ sync: boolean }> {
  await change.touchSchool(schoolId, clientId);
  const data = [{ clientId, schoolId, signOnRoles: [], createdAt: now, updatedAt: now }];
  await writeAtSchool(tx.prisma.grant.createMany({ data, skipDuplicates: true }));
  await lockRow(tx, { clientId, schoolId });
  return tx.prisma.grant.findUniqueOrThrow({ where: whereKey({ clientId, schoolId }), select: { sync: true } });
}

const appOrSchoolMissing = ["not_found", "app_or_school_not_found", "There is no such app or no such school."] as const;

/** Awaits a write about an app at a school. Errors: not_found app_or_school_not_found. */
export const writeAtSchool = <T>(written: PromiseLike<T>): Promise<T> =>
  refuseConstraints(written, {
    grant_client_id_fkey: appOrSchoolMissing,
    grant_school_id_fkey: appOrSchoolMissing,
    // A sandbox school does not exist for other apps.
    grant_sandbox_fkey: appOrSchoolMissing,
    withheld_item_client_id_fkey: appOrSchoolMissing,
    withheld_item_school_id_fkey: appOrSchoolMissing,
  });

async function writeAudience({ tx, now }: Change, key: GrantKey, signOn: SignOnAudience): Promise<void> {
  const signOnRoles = signOn.kind === "ROLES" ? [...new Set(signOn.roles)] : [];
  const data = { signOnAudience: signOn.kind, signOnRoles, updatedAt: now };
  await tx.prisma.grant.update({ where: whereKey(key), data });
  await replaceGroups(tx, "grantSignOnGroup", { ...key, groups: signOn.kind === "GROUPS" ? signOn.groups : [] });
}

async function writeSync({ tx, now }: Change, key: GrantKey, sync: boolean): Promise<void> {
  await tx.prisma.grant.update({ where: whereKey(key), data: { sync, updatedAt: now } });
}

/** Returns whether the groups changed. Errors: invalid group_of_other_school. */
async function replaceGroups(
  { prisma }: Transaction,
  of: "syncedGroup" | "grantSignOnGroup",
  { clientId, schoolId, groups }: GrantKey & { groups: readonly GroupId[] },
): Promise<boolean> {
  const ids = [...new Set(groups)];
  if ((await prisma.group.count({ where: { schoolId, id: { in: ids } } })) !== ids.length)
    throw new AppError("invalid", "group_of_other_school", "A group is not of this school.");
  const rows: Pick<Records["syncedGroup"], "deleteMany" | "createMany"> = prisma[of];
  const deleted = await rows.deleteMany({ where: { clientId, schoolId, groupId: { notIn: ids } } });
  const data = ids.map((groupId) => ({ clientId, schoolId, groupId }));
  return deleted.count + (await rows.createMany({ data, skipDuplicates: true })).count > 0;
}
