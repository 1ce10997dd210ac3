import { originOf, type Change, type GroupId, type PersonRole, type SchoolId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { ClientId } from "./token.ts";

export type SignOnAudience =
  | { kind: "NOBODY" }
  | { kind: "EVERYBODY" }
  | { kind: "ROLES"; roles: readonly [PersonRole, ...PersonRole[]] }
  | { kind: "GROUPS"; groups: readonly GroupId[] };

/** What names a grant: the app that has it and the school that gives it. */
export type GrantKey = { clientId: ClientId; schoolId: SchoolId };

/** What a school gives an app. The synced groups are remembered while `sync` is off. */
export type GrantSettings = GrantKey & {
  signOn: SignOnAudience;
  sync: boolean;
  syncedGroups: readonly GroupId[];
};

/** Sets the whole grant of a school for an app, whatever it was. */
export async function setGrant(change: Change, grant: GrantSettings): Promise<void> {
  const { clientId, schoolId, signOn, sync } = grant;
  await openGrant(change, grant);
  await writeAudience(change, grant, signOn);
  await writeSync(change, grant, sync);
  await replaceGroups(change.tx, "synced_group", grant, grant.syncedGroups);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "grant_set",
    clientId,
    schoolId,
    detail: { signOn: signOn.kind, sync },
  });
}

/** Sets who of the school may sign in to the app; sync stays as it is. */
export async function setSignOn(
  change: Change,
  { signOn, ...key }: GrantKey & { signOn: SignOnAudience },
): Promise<void> {
  await openGrant(change, key);
  await writeAudience(change, key, signOn);
  const { kind, ...of } = signOn;
  await recordAudit(change.tx, { ...originOf(change), action: "sign_on_set", ...key, detail: { signOn: kind, ...of } });
}

/** Switches sync; sign-on and the synced groups stay as they are. False: it was so already, nothing was written. */
export async function setSync(change: Change, { sync, ...key }: GrantKey & { sync: boolean }): Promise<boolean> {
  const before = await openGrant(change, key);
  if (before.sync === sync) return false;
  await writeSync(change, key, sync);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: sync ? "sync_switched_on" : "sync_switched_off",
    ...key,
  });
  return true;
}

/** Chooses the groups that the school syncs to the app, whether or not sync is on. False: nothing was written. */
export async function setSyncedGroups(
  change: Change,
  { groups, ...key }: GrantKey & { groups: readonly GroupId[] },
): Promise<boolean> {
  await openGrant(change, key);
  const differs = await replaceGroups(change.tx, "synced_group", key, groups);
  if (!differs) return false;
  await recordAudit(change.tx, { ...originOf(change), action: "synced_groups_set", ...key, detail: { groups } });
  return true;
}

/** Takes everything back that the school gave the app. */
export async function withdrawGrant(change: Change, key: GrantKey): Promise<void> {
  await change.touchSchool(key.schoolId, key.clientId);
  const { rowCount } = await change.tx.query(`DELETE FROM "grant" WHERE client_id = $1 AND school_id = $2`, [
    key.clientId,
    key.schoolId,
  ]);
  if (rowCount === 0) throw new AppError("not_found", "grant_not_found", "The school has given this app nothing.");
  await recordAudit(change.tx, { ...originOf(change), action: "grant_withdrawn", ...key });
}

const selectGrants = `
  SELECT client_id AS "clientId", school_id AS "schoolId", sync,
    CASE sign_on_audience
      WHEN 'ROLES' THEN json_build_object('kind', 'ROLES', 'roles', sign_on_roles::text[])
      WHEN 'GROUPS' THEN json_build_object('kind', 'GROUPS', 'groups', ARRAY(
        SELECT group_id FROM grant_sign_on_group chosen
        WHERE chosen.client_id = given.client_id AND chosen.school_id = given.school_id ORDER BY group_id))
      ELSE json_build_object('kind', sign_on_audience) END AS "signOn",
    ARRAY(SELECT group_id FROM synced_group synced
      WHERE synced.client_id = given.client_id AND synced.school_id = given.school_id ORDER BY group_id)::text[] AS "syncedGroups"
  FROM "grant" given
  WHERE ($1::text IS NULL OR client_id = $1) AND ($2::uuid IS NULL OR school_id = $2)
  ORDER BY client_id, school_id LIMIT $3`;

/** The grants of an app, of a school, or of both. */
export async function listGrants(db: Queryable, of: Partial<GrantKey> & { limit: number }): Promise<GrantSettings[]> {
  return (await db.query<GrantSettings>(selectGrants, [of.clientId, of.schoolId, of.limit])).rows;
}

export async function findGrant(db: Queryable, key: GrantKey): Promise<GrantSettings | null> {
  return (await listGrants(db, { ...key, limit: 1 }))[0] ?? null;
}

const insertGrant = `
  INSERT INTO "grant" (client_id, school_id, sign_on_audience, sign_on_roles, sync, created_at, updated_at)
  SELECT app.client_id, school.id, 'NOBODY', '{}', false, $3, $3 FROM app, school WHERE app.client_id = $1 AND school.id = $2
  ON CONFLICT DO NOTHING`;

/** The grant to be altered, held until the end of the change; one that gives nothing where there was none. */
async function openGrant(change: Change, { clientId, schoolId }: GrantKey): Promise<{ sync: boolean }> {
  await change.touchSchool(schoolId, clientId);
  await change.tx.query(insertGrant, [clientId, schoolId, change.now]);
  const { rows } = await change.tx.query<{ sync: boolean }>(
    `SELECT sync FROM "grant" WHERE client_id = $1 AND school_id = $2 FOR NO KEY UPDATE`,
    [clientId, schoolId],
  );
  if (rows[0] === undefined)
    throw new AppError("not_found", "app_or_school_not_found", "There is no such app or no such school.");
  return rows[0];
}

async function writeAudience({ tx, now }: Change, key: GrantKey, signOn: SignOnAudience): Promise<void> {
  const { clientId, schoolId } = key;
  const roles = signOn.kind === "ROLES" ? [...new Set(signOn.roles)] : [];
  await tx.query(
    `UPDATE "grant" SET sign_on_audience = $3, sign_on_roles = $4::person_role[], updated_at = $5 WHERE client_id = $1 AND school_id = $2`,
    [clientId, schoolId, signOn.kind, roles, now],
  );
  await replaceGroups(tx, "grant_sign_on_group", key, signOn.kind === "GROUPS" ? signOn.groups : []);
}

async function writeSync({ tx, now }: Change, { clientId, schoolId }: GrantKey, sync: boolean): Promise<void> {
  await tx.query(`UPDATE "grant" SET sync = $3, updated_at = $4 WHERE client_id = $1 AND school_id = $2`, [
    clientId,
    schoolId,
    sync,
    now,
  ]);
}

type GroupTable = "grant_sign_on_group" | "synced_group";

/** Answers whether the groups are others than before. */
async function replaceGroups(
  tx: Queryable,
  table: GroupTable,
  { clientId, schoolId }: GrantKey,
  groups: readonly GroupId[],
): Promise<boolean> {
  const wanted = [...new Set(groups)];
  const values = [clientId, schoolId, wanted];
  const deleted = await tx.query(
    `DELETE FROM ${table} WHERE client_id = $1 AND school_id = $2 AND group_id <> ALL ($3::uuid[])`,
    values,
  );
  const added = await tx.query(
    `INSERT INTO ${table} (client_id, school_id, group_id)
     SELECT $1, g.school_id, g.id FROM "group" g WHERE g.school_id = $2 AND g.id = ANY ($3::uuid[])
     ON CONFLICT DO NOTHING`,
    values,
  );
  const { rowCount } = await tx.query(
    `SELECT FROM ${table} WHERE client_id = $1 AND school_id = $2`,
    values.slice(0, 2),
  );
  if (rowCount !== wanted.length)
    throw new AppError("invalid", "group_of_other_school", "A group is not of this school.");
  return (deleted.rowCount ?? 0) + (added.rowCount ?? 0) > 0;
}
