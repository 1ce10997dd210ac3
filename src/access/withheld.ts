import { auditChange, type Change, type SchoolId } from "../directory/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { insert, makeRun, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import type { AppAttribute } from "./attributes.ts";
import { recordWithheld } from "./disclosure/record.ts";
import { writeAtSchool, type GrantKey } from "./grants/grant.ts";
import type { ClientId, ScopeName } from "./token.ts";
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
  return rows as (Withheld & { schoolId: string })[];
}

export const chosenBySchool = (withheld: readonly Withheld[]): AppAttribute[] =>
  withheld.filter(({ reason }) => reason === "SCHOOL").map(({ item }) => item as AppAttribute);

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
  const added = await writeAtSchool(withheldItem.createMany({ data, skipDuplicates: true }));
  if (deleted.count + added.count === 0) return false;
  await recordWithheld(tx, { ...key, at: now });
  await auditChange(change, { action: "attributes_withheld", ...key, detail: { withheld: items.sort() } });
  return true;
}

type Items = { attributes: readonly AppAttribute[]; scopes: readonly ScopeName[] };

const grant = table("grant", "given");
const acceptance = table("agreementAcceptance", "accepted");
const s = table("school", "s");

const isInForce = (clientId: Value): Sql => sql`${acceptance.clientId} = ${clientId}
  AND ${acceptance.replacedAt} IS NULL AND ${acceptance.withdrawnAt} IS NULL`;

const insertNotAgreed = makeRun<{ clientId: ClientId; items: readonly string[]; now: Date }>(
  ({ clientId, items, now }) =>
    sql`${insert(
      "withheldItem",
      { clientId, item: sql`added.item`, schoolId: s.id, reason: sql`'NOT_AGREED'`, since: now },
      sql`FROM ${s} CROSS JOIN unnest(${items}::text[]) AS added (item)
    WHERE ${s.sandboxId} IS NULL AND ${s.id} IN (
        SELECT ${grant.schoolId} FROM ${grant} WHERE ${grant.clientId} = ${clientId}
        UNION SELECT ${acceptance.schoolId} FROM ${acceptance} WHERE ${isInForce(clientId)})
      AND NOT EXISTS (
        SELECT FROM ${acceptance} WHERE ${isInForce(clientId)} AND ${acceptance.schoolId} = ${s.id}
          AND added.item = ANY (${acceptance.attributes}::text[] || ${acceptance.scopes}))`,
    )} ON CONFLICT DO NOTHING`,
  "access.withholdAdded",
);

type Update = { before: Items; after: Items & { clientId: ClientId }; demandsAgreements: boolean };

/** What an app gets is withheld at its schools until they agree, if that is demanded; what it loses no longer is. */
export async function withholdAdded(tx: Transaction, { before, after, demandsAgreements }: Update, now: Date) {
  const { clientId } = after;
  const itemsOf = ({ attributes, scopes }: Items): string[] => [...attributes, ...scopes];
  const [had, has] = [itemsOf(before), itemsOf(after)];
  const lost = had.filter((item) => !has.includes(item));
  const items = has.filter((item) => !had.includes(item));
  const notAgreed = { clientId, reason: "NOT_AGREED" as const };
  if (lost.length > 0) await tx.prisma.withheldItem.deleteMany({ where: { ...notAgreed, item: { in: lost } } });
  if (demandsAgreements && items.length > 0) await insertNotAgreed(tx, { clientId, items, now });
  if (lost.length + items.length > 0) await recordWithheld(tx, { clientId, schoolId: null, at: now });
}
