import type { Prisma } from "../../../generated/prisma/client.ts";
import { checkName, checkText } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { checkLogo, type ImageType } from "../../platform/images/image.ts";
import type { ClientId } from "../token.ts";
import { checkUri } from "./rules.ts";

type AppText = { de: string | null; en: string | null };

export type AppProfile = {
  provider: string | null;
  description: AppText;
  /** Which data of people it uses, and why. */
  purpose: AppText;
  privacyUrl: string | null;
  supportAddress: string | null;
  logoPath: string | null;
};

export type ProfileUpdate = {
  [Name in keyof Omit<AppProfile, "logoPath">]?:
    | (AppProfile[Name] extends AppText ? { [Language in keyof AppText]?: string | null | undefined } : string | null)
    | undefined;
};

const mostOfText = 2000;

export async function findProfiles({ prisma }: RecordStore, clientIds: readonly ClientId[]) {
  const where = { clientId: { in: [...clientIds] } };
  const profiles = await prisma.appProfile.findMany({ where });
  const logos = await prisma.appLogo.findMany({ where, select: { clientId: true, type: true, hash: true } });
  const profileOf = new Map(profiles.map((profile) => [profile.clientId, profile]));
  const logoOf = new Map(logos.map((logo) => [logo.clientId, logo]));
  return new Map(clientIds.map((id) => [id, profileFrom(profileOf.get(id), logoOf.get(id))]));
}

export const findProfile = async (db: RecordStore, clientId: ClientId): Promise<AppProfile> =>
  (await findProfiles(db, [clientId])).get(clientId)!;

const profileFrom = (profile: Prisma.AppProfileModel | undefined, logo: LogoName | undefined): AppProfile => ({
  provider: profile?.provider ?? null,
  description: { de: profile?.descriptionDe ?? null, en: profile?.descriptionEn ?? null },
  purpose: { de: profile?.purposeDe ?? null, en: profile?.purposeEn ?? null },
  privacyUrl: profile?.privacyUrl ?? null,
  supportAddress: profile?.supportAddress ?? null,
  logoPath: logo === undefined ? null : logoPathOf(logo),
});

/** Errors: invalid text_*, uri_refused. */
export async function writeProfile(tx: Transaction, clientId: ClientId, update: ProfileUpdate): Promise<void> {
  const { provider, description = {}, purpose = {}, privacyUrl, supportAddress } = update;
  const data = {
    provider: provider && checkName("provider", provider),
    descriptionDe: description.de && checkLines("description/de", description.de),
    descriptionEn: description.en && checkLines("description/en", description.en),
    purposeDe: purpose.de && checkLines("purpose/de", purpose.de),
    purposeEn: purpose.en && checkLines("purpose/en", purpose.en),
    privacyUrl: privacyUrl && checkAddress("privacyUrl", privacyUrl),
    supportAddress:
      supportAddress &&
      (isMailAddress(supportAddress) ? supportAddress : checkAddress("supportAddress", supportAddress)),
  };
  const changes = Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => (value === undefined ? [] : [[name, value === "" ? null : value]])),
  );
  if (Object.keys(changes).length === 0) return;
  await tx.prisma.appProfile.upsert({ where: { clientId }, create: { clientId, ...changes }, update: changes });
}

function checkLines(field: string, text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").trim().normalize("NFC");
  checkText(field, lines.replaceAll("\n", " "), mostOfText);
  return lines;
}

function checkAddress(property: string, uri: string): string {
  checkUri(property, uri, { allowLoopbackHttp: false, allowOwnScheme: false });
  return uri;
}

// No character with a meaning in `mailto:`, whose parameters add recipients and texts. Source: RFC 6068, section 2.
const isMailAddress = (text: string): boolean =>
  text.length <= 254 && /^[\w.'+~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text);

const endings: Record<ImageType, string> = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" };

export const logoPathOf = (logo: LogoName): string =>
  `/assets/apps/${logo.clientId}/${logo.hash}.${endings[logo.type as ImageType]}`;

export type LogoName = { clientId: string; type: string; hash: string };

const logo = table("appLogo", "logo");

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
  const logo = await prisma.appLogo.findUnique({ where: { clientId } });
  return logo !== null && logoPathOf(logo) === path ? logo : null;
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
