import { auditChange, type Change, type SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { AppAttribute } from "./attributes.ts";
import type { GrantKey } from "./grant.ts";
import type { ClientId } from "./token.ts";
import type { WithheldItem } from "./withheld-sql.ts";

/** SCHOOL: the school switched it off. NOT_AGREED: the app got it after the school had agreed. */
export type Withheld = { clientId: ClientId; item: WithheldItem; reason: "SCHOOL" | "NOT_AGREED"; since: Date };

/** What apps do not get at a school, now. */
export async function listWithheld(
  { prisma }: RecordStore,
  { schoolId, clientId }: { schoolId: SchoolId; clientId?: ClientId },
): Promise<Withheld[]> {
  const rows = await prisma.withheldItem.findMany({
    where: { schoolId, ...(clientId !== undefined && { clientId }) },
    orderBy: [{ clientId: "asc" }, { item: "asc" }, { reason: "asc" }],
  });
  return rows.map(({ clientId, item, reason, since }) => ({
    clientId: clientId as ClientId,
    item: item as WithheldItem,
    reason,
    since,
  }));
}

/**
 * Replaces the attributes that the school withholds from the app; returns false, and writes nothing, if it withholds
 * these. A choice outlives the grant, because an app still sees the users who signed in.
 *
 * Errors: not_found app_or_school_not_found.
 */
export async function setWithheld(
  change: Change,
  { attributes, ...key }: GrantKey & { attributes: readonly AppAttribute[] },
): Promise<boolean> {
  const { tx, now } = change;
  await change.touchSchool(key.schoolId, key.clientId);
  const items = [...new Set(attributes)];
  const own = { ...key, reason: "SCHOOL" as const };
  const { withheldItem } = tx.prisma;
  const deleted = await withheldItem.deleteMany({ where: { ...own, item: { notIn: items } } });
  const data = items.map((item) => ({ ...own, item, since: now }));
  const added = await withheldItem.createMany({ data, skipDuplicates: true }).catch((error: unknown) => {
    if (!missing.has((error as { constraint?: string }).constraint ?? "")) throw error;
    throw new AppError("not_found", "app_or_school_not_found", "There is no such app or no such school.");
  });
  if (deleted.count + added.count === 0) return false;
  await auditChange(change, { action: "attributes_withheld", ...key, detail: { withheld: items.sort() } });
  return true;
}

const missing: ReadonlySet<string> = new Set(["withheld_item_client_id_fkey", "withheld_item_school_id_fkey"]);
