import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { type ImageType, checkLogo } from "../platform/images/image.ts";
import type { ClientId } from "./token.ts";

const endings: Record<ImageType, string> = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" };

export const logoPathOf = (logo: LogoName): string =>
  `/assets/apps/${logo.clientId}/${logo.hash}.${endings[logo.type as ImageType]}`;

const logo = table("appLogo", "logo");

export type LogoName = { clientId: string; type: string; hash: string };

/** SQL value: the `LogoName` of an app; null without a logo. */
export const logoOf = (clientId: Value): Sql => sql`(
  SELECT json_build_object('clientId', ${logo.clientId}, 'type', ${logo.type}, 'hash', ${logo.hash})
  FROM ${logo} WHERE ${logo.clientId} = ${clientId})`;

export async function findLogo(
  { prisma }: RecordStore,
  path: string,
): Promise<{ type: string; bytes: Uint8Array } | null> {
  const [, clientId] = /^\/assets\/apps\/([A-Za-z0-9_-]{1,64})\/[0-9a-f]{32}\.(?:png|jpg|webp)$/.exec(path) ?? [];
  if (clientId === undefined) return null;
  const found = await prisma.appLogo.findUnique({ where: { clientId } });
  return found !== null && logoPathOf(found) === path ? found : null;
}

export async function putLogo(tx: Transaction, clientId: ClientId, image: Buffer, origin: Origin): Promise<void> {
  const logo = checkLogo(image, { types: ["image/png", "image/jpeg", "image/webp"], called: "PNG, JPEG or WebP" });
  await tx.prisma.appLogo.upsert({ where: { clientId }, create: { clientId, ...logo }, update: logo });
  await recordAudit(tx, { ...origin, action: "app_logo_set", clientId });
}

export async function deleteLogo(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const { count } = await tx.prisma.appLogo.deleteMany({ where: { clientId } });
  if (count > 0) await recordAudit(tx, { ...origin, action: "app_logo_removed", clientId });
}
