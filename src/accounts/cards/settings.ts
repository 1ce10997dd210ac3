import ipaddr from "ipaddr.js";
import type { CardSecondStep } from "../../../generated/prisma/enums.ts";
import { checkLines, type SchoolId } from "../../directory/index.ts";
import { type Origin, recordAudit } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { columnNames, fields, insert, makeRun, pick, sql, type Sql, table } from "../../platform/database/sql.ts";

export type { CardSecondStep };

/** `from` and `to` as "07:00" at the school; `weekdays` from 1 for Monday to 7 for Sunday. */
export type CardHours = { from: string; to: string; weekdays: number[] };

/** Null `grades`: every grade; null `hours`: always; no `networks`: everywhere; null `pictureCodeUpToGrade`: nobody. */
export type CardSettings = {
  enabled: boolean;
  grades: number[] | null;
  hours: CardHours | null;
  networks: string[];
  secondStep: CardSecondStep;
  printSecondStep: boolean;
  pictureCodeUpToGrade: number | null;
  classLists: boolean;
};

export type CardSettingsRow = Omit<CardSettings, "grades" | "hours"> & {
  grades: number[];
  hoursFrom: string | null;
  hoursTo: string | null;
  weekdays: number[];
};

const settings = table("cardSettings", "settings");

/** SQL value: the `CardSettingsRow` of a school, or null. */
export const cardSettingsOf = (schoolId: Sql): Sql => sql`(
  SELECT to_json(found) FROM (
    SELECT ${fields<CardSettingsRow>({
      ...pick(settings, "enabled", "grades", "hoursFrom", "hoursTo", "weekdays", "networks", "secondStep"),
      ...pick(settings, "printSecondStep", "pictureCodeUpToGrade", "classLists"),
    })} FROM ${settings} WHERE ${settings.schoolId} = ${schoolId}) found)`;

const none: CardSettings = {
  enabled: false,
  grades: null,
  hours: null,
  networks: [],
  secondStep: "NONE",
  printSecondStep: false,
  pictureCodeUpToGrade: null,
  classLists: false,
};

export function settingsFrom(row: CardSettingsRow | null): CardSettings {
  if (row === null) return none;
  const { grades, hoursFrom, hoursTo, weekdays, ...same } = row;
  const hours = hoursFrom === null || hoursTo === null ? null : { from: hoursFrom, to: hoursTo, weekdays };
  return { ...same, grades: grades.length === 0 ? null : grades, hours };
}

export async function readCardSettings({ prisma }: RecordStore, schoolId: SchoolId): Promise<CardSettings> {
  const omit = { schoolId: true, updatedAt: true } as const;
  return settingsFrom(await prisma.cardSettings.findUnique({ where: { schoolId }, omit }));
}

const card = table("loginCard", "c");
const personColumn = columnNames("voidSignIn", "personId");
const voidCards = makeRun<{ schoolId: SchoolId }>(
  ({ schoolId }) => sql`
    ${insert(
      "voidSignIn",
      { personId: sql`card.person_id` },
      sql`FROM (
      SELECT DISTINCT ${card.personId} FROM ${card}
      WHERE ${card.schoolId} = ${schoolId} AND ${card.revokedAt} IS NULL
      ORDER BY ${card.personId}) AS card`,
    )}
    ON CONFLICT (${personColumn}) DO UPDATE SET ${personColumn} = excluded.${personColumn}`,
  "sign-on.voidCardsOfSchool",
);

type LaterSettings = "pictureCodeUpToGrade" | "classLists";
type GivenSettings = Omit<CardSettings, LaterSettings> & Partial<Pick<CardSettings, LaterSettings>>;

/**
 * When cards are switched off, their sign-ins end. Settings that programs of earlier versions do not know may be left
 * out. Errors: invalid network_invalid, hours_invalid, picture_codes_needed.
 */
export async function writeCardSettings(tx: Transaction, schoolId: SchoolId, settings: GivenSettings, origin: Origin) {
  const before = await readCardSettings(tx, schoolId);
  const { pictureCodeUpToGrade = before.pictureCodeUpToGrade, classLists = before.classLists } = settings;
  if (classLists && pictureCodeUpToGrade === null)
    throw new AppError("invalid", "picture_codes_needed", "classLists needs pictureCodeUpToGrade.");
  const { enabled, grades, hours, secondStep, printSecondStep } = settings;
  const networks = [...new Set(settings.networks.map((network, index) => readNetwork(network, index)))];
  if (hours !== null && hours.from >= hours.to)
    throw new AppError("invalid", "hours_invalid", "hours must begin before they end.");
  const row = {
    enabled,
    networks,
    secondStep,
    printSecondStep,
    pictureCodeUpToGrade,
    classLists,
    updatedAt: origin.at,
    grades: inOrder(grades ?? []),
    weekdays: inOrder(hours?.weekdays ?? []),
    hoursFrom: hours?.from ?? null,
    hoursTo: hours?.to ?? null,
  };
  await tx.prisma.cardSettings.upsert({ where: { schoolId }, create: { schoolId, ...row }, update: row });
  if (!enabled) await voidCards(tx, { schoolId });
  await recordAudit(tx, { ...origin, action: "card_settings_changed", schoolId });
}

const inOrder = (numbers: readonly number[]): number[] => [...numbers].sort((left, right) => left - right);

/** Clears the host bits of a network. Errors: invalid network_invalid. */
function readNetwork(text: string, index: number): string {
  try {
    const [address, bits] = ipaddr.parseCIDR(text);
    const range = address.kind() === "ipv6" ? ipaddr.IPv6 : ipaddr.IPv4;
    return `${range.networkAddressFromCIDR(text).toString()}/${bits}`;
  } catch (error) {
    const message = "networks must be in CIDR notation, such as 192.0.2.0/24.";
    throw new AppError("invalid", "network_invalid", message, undefined, {
      cause: error,
      property: `networks/${index}`,
    });
  }
}

const longest = 2_000;

/** The school's own text; null for the default text. */
export async function findParentLetter({ prisma }: RecordStore, schoolId: SchoolId): Promise<string | null> {
  return (await prisma.parentLetter.findUnique({ where: { schoolId } }))?.text ?? null;
}

/** Errors: invalid for a text that is refused. */
export async function putParentLetter(
  { prisma }: Transaction,
  { schoolId, text: typedText }: { schoolId: SchoolId; text: string | null },
  origin: Origin,
): Promise<void> {
  if (typedText === null) await prisma.parentLetter.deleteMany({ where: { schoolId } });
  else {
    const text = checkLines("text", typedText, longest);
    await prisma.parentLetter.upsert({ where: { schoolId }, create: { schoolId, text }, update: { text } });
  }
  await recordAudit({ prisma }, { ...origin, action: "parent_letter_set", schoolId });
}
