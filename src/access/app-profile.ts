import type { Prisma } from "../../generated/prisma/client.ts";
import { checkName, checkText } from "../directory/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { logoPathOf } from "./app-logo.ts";
import { checkUri } from "./redirect-uri.ts";
import type { ClientId } from "./token.ts";

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

export async function findProfiles(
  { prisma }: RecordStore,
  clientIds: readonly ClientId[],
): Promise<Map<ClientId, AppProfile>> {
  const where = { clientId: { in: [...clientIds] } };
  const profiles = await prisma.appProfile.findMany({ where });
  const logos = await prisma.appLogo.findMany({ where, select: { clientId: true, type: true, hash: true } });
  const byId = new Map(profiles.map((profile) => [profile.clientId, profile]));
  const logoOf = new Map(logos.map((logo) => [logo.clientId, logoPathOf(logo)]));
  return new Map(clientIds.map((id) => [id, profileFrom(byId.get(id), logoOf.get(id) ?? null)]));
}

export const findProfile = async (db: RecordStore, clientId: ClientId): Promise<AppProfile> =>
  (await findProfiles(db, [clientId])).get(clientId)!;

const profileFrom = (profile: Prisma.AppProfileModel | undefined, logoPath: string | null): AppProfile => ({
  provider: profile?.provider ?? null,
  description: { de: profile?.descriptionDe ?? null, en: profile?.descriptionEn ?? null },
  purpose: { de: profile?.purposeDe ?? null, en: profile?.purposeEn ?? null },
  privacyUrl: profile?.privacyUrl ?? null,
  supportAddress: profile?.supportAddress ?? null,
  logoPath,
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
