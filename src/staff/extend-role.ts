import type { ClientId } from "../access/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { StaffRole } from "./role.ts";

const mostAppsWithoutScopes = 10;

/** Errors: forbidden role_forbids if the role was withdrawn meanwhile; conflict too_many_apps_without_scopes. */
export async function extendPartnerRole(
  tx: Transaction,
  { role, clientId }: { role: StaffRole; clientId: ClientId },
  origin: Origin,
): Promise<void> {
  const { count } = await tx.prisma.staffRole.updateMany({ where: { id: role.id }, data: { role: role.role } });
  if (count === 0) throw new AppError("forbidden", "role_forbids", "None of your staff roles allows this operation.");
  await tx.prisma.staffRoleApp.create({ data: { roleId: role.id, clientId } });
  const without = await tx.prisma.staffRoleApp.count({
    where: { roleId: role.id, app: { scopes: { isEmpty: true } } },
  });
  if (without > mostAppsWithoutScopes) {
    const message = `${mostAppsWithoutScopes} of your apps have no scopes. Ask for scopes, or have some deleted, first.`;
    throw new AppError("conflict", "too_many_apps_without_scopes", message);
  }
  const detail = { role: role.role, roleId: role.id };
  await recordAudit(tx, { ...origin, action: "staff_role_extended", clientId, detail });
}
