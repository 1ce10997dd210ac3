import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import type { ClientId } from "./token.ts";

const suspended = table("app", "suspended");

/** SQL: nobody signs in to the app, its tokens are refused, and its webhooks wait. */
export const appIsSuspended = (client: Value): Sql => sql`EXISTS (SELECT FROM ${suspended}
  WHERE ${suspended.clientId} = ${client} AND ${suspended.suspendedAt} IS NOT NULL)`;

/** The app exists. If it is suspended already, only the reason changes. */
export async function suspendApp(
  tx: Transaction,
  { clientId, reason }: { clientId: ClientId; reason: string },
  origin: Origin,
): Promise<void> {
  const { suspendedAt } = await tx.prisma.app.findUniqueOrThrow({ where: { clientId }, select: { suspendedAt: true } });
  const data = { suspendedAt: suspendedAt ?? origin.at, suspensionReason: reason, updatedAt: origin.at };
  await tx.prisma.app.update({ where: { clientId }, data });
  await recordAudit(tx, { ...origin, action: "app_suspended", clientId });
}

/** Errors: not_found suspension_not_found. */
export async function resumeApp(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const data = { suspendedAt: null, suspensionReason: null, updatedAt: origin.at };
  const { count } = await tx.prisma.app.updateMany({ where: { clientId, suspendedAt: { not: null } }, data });
  if (count === 0) throw new AppError("not_found", "suspension_not_found", "The app is not suspended.");
  await recordAudit(tx, { ...origin, action: "app_resumed", clientId });
}
