import type { GroupId, PersonRole, SchoolId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import type { ClientId } from "./token.ts";

export type SignOnAudience =
  | { kind: "NOBODY" }
  | { kind: "EVERYBODY" }
  | { kind: "ROLES"; roles: readonly [PersonRole, ...PersonRole[]] }
  | { kind: "GROUPS"; groups: readonly GroupId[] };

/** What a school gives an app. The synced groups are remembered while `sync` is off. */
export type GrantSettings = {
  clientId: ClientId;
  schoolId: SchoolId;
  signOn: SignOnAudience;
  sync: boolean;
  syncedGroups: readonly GroupId[];
};

const upsertGrant = `
  INSERT INTO "grant" (client_id, school_id, sign_on_audience, sign_on_roles, sync, created_at, updated_at)
  SELECT app.client_id, school.id, $3, $4::person_role[], $5, $6, $6 FROM app, school WHERE app.client_id = $1 AND school.id = $2
  ON CONFLICT (client_id, school_id) DO UPDATE SET
    sign_on_audience = excluded.sign_on_audience, sign_on_roles = excluded.sign_on_roles,
    sync = excluded.sync, updated_at = excluded.updated_at`;

/** Sets the whole grant of a school for an app, whatever it was. */
export async function setGrant(tx: Queryable, grant: GrantSettings, origin: Origin): Promise<void> {
  const { clientId, schoolId, signOn, sync } = grant;
  const roles = signOn.kind === "ROLES" ? signOn.roles : [];
  const { rowCount } = await tx.query(upsertGrant, [clientId, schoolId, signOn.kind, roles, sync, origin.at]);
  if (rowCount === 0) throw new AppError("not_found", "app_or_school_not_found", "There is no such app or no such school.");
  await replaceGroups(tx, "grant_sign_on_group", grant, signOn.kind === "GROUPS" ? signOn.groups : []);
  await replaceGroups(tx, "synced_group", grant, grant.syncedGroups);
  await recordAudit(tx, { ...origin, action: "grant_set", clientId, schoolId, detail: { signOn: signOn.kind, sync } });
}

type GroupTable = "grant_sign_on_group" | "synced_group";

async function replaceGroups(tx: Queryable, table: GroupTable, grant: GrantSettings, groups: readonly GroupId[]): Promise<void> {
  const wanted = [...new Set(groups)];
  const values = [grant.clientId, grant.schoolId, wanted];
  await tx.query(`DELETE FROM ${table} WHERE client_id = $1 AND school_id = $2 AND group_id <> ALL ($3::uuid[])`, values);
  await tx.query(
    `INSERT INTO ${table} (client_id, school_id, group_id)
     SELECT $1, g.school_id, g.id FROM "group" g WHERE g.school_id = $2 AND g.id = ANY ($3::uuid[])
     ON CONFLICT DO NOTHING`,
    values,
  );
  const { rowCount } = await tx.query(`SELECT FROM ${table} WHERE client_id = $1 AND school_id = $2`, values.slice(0, 2));
  if (rowCount !== wanted.length) throw new AppError("invalid", "group_of_other_school", "A group is not of this school.");
}
