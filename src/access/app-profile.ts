import type { Prisma } from "../../generated/prisma/client.ts";
import { checkText } from "../directory/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { logoPathOf } from "./app-logo.ts";
import { checkUri } from "./redirect-uri.ts";
import type { ClientId } from "./token.ts";

/** A text in the languages of the pages; null where there is none. */
export type AppText = { de: string | null; en: string | null };

/** What an app says of itself. */
export type AppProfile = {
  provider: string | null;
  /** What it is. */
  description: AppText;
  /** What it wants of people's data, and why. */
  purpose: AppText;
  privacyUrl: string | null;
  /** An https address or an e-mail address. */
  supportAddress: string | null;
  /** Where its logo is at this service. */
  logoPath: string | null;
};

/** What is left out stays, also of a text. */
export type ProfileUpdate = {
  [Name in keyof Omit<AppProfile, "logoPath">]?:
    | (AppProfile[Name] extends AppText ? { [Language in keyof AppText]?: string | null | undefined } : string | null)
    | undefined;
};

const mostOfText = 2000;

/** What apps say of themselves, by client id; one that says nothing is there too. */
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

/** What one app says of itself. */
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

/**
 * Writes what is given of a profile, and leaves the rest.
 *
 * Errors: invalid for a text that cannot be kept (text_empty, text_too_long, text_unprintable) and for an address that
 *         a browser must not be sent to (uri_refused).
 */
export async function writeProfile(tx: Transaction, clientId: ClientId, update: ProfileUpdate): Promise<void> {
  const { provider, description = {}, purpose = {}, privacyUrl, supportAddress } = update;
  const data = {
    provider: provider && checkText("provider", provider),
    descriptionDe: description.de && checkLines("description", description.de),
    descriptionEn: description.en && checkLines("description", description.en),
    purposeDe: purpose.de && checkLines("purpose", purpose.de),
    purposeEn: purpose.en && checkLines("purpose", purpose.en),
    privacyUrl: privacyUrl && checkAddress(privacyUrl),
    supportAddress: supportAddress && (isMailAddress(supportAddress) ? supportAddress : checkAddress(supportAddress)),
  };
  const given = Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => (value === undefined ? [] : [[name, value === "" ? null : value]])),
  );
  if (Object.keys(given).length === 0) return;
  await tx.prisma.appProfile.upsert({ where: { clientId }, create: { clientId, ...given }, update: given });
}

/** Returns a text of several lines as it is kept. Errors: those of `checkText`, line feeds aside. */
function checkLines(field: string, text: string): string {
  const lines = text.replace(/\r\n?/g, "\n").trim().normalize("NFC");
  checkText(field, lines.replaceAll("\n", " "), mostOfText);
  return lines;
}

function checkAddress(uri: string): string {
  checkUri(uri, { allowLoopbackHttp: false, allowOwnScheme: false });
  return uri;
}

/** Source: the part of RFC 5322 section 3.4.1 that addresses of mail have today. */
const isMailAddress = (text: string): boolean =>
  text.length <= 254 && /^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text);
