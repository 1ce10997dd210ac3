import type { Prisma } from "../../generated/prisma/client.ts";
import { checkLines, type PersonId, type SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";

export type SignInSettings = Omit<Prisma.SchoolSignInModel, "schoolId">;
type Optional = "passkeys" | "passkeysFromGrade" | SessionSetting;
type SessionSetting = "pupilSessionHours" | "staffSessionHours" | "staySignedInDays" | "staySignedInFromGrade";
export type UserNameRule = SignInSettings["userNameRule"];
export type PasswordKind = SignInSettings["passwordKind"];

/** Levels whose pupils are small or read with effort. */
const levelsWithWords = new Set(["GRUNDSCHULE", "FOERDERSCHULE"]);
const longestHelpText = 500;

/** Returns the defaults of its level for a school without settings. */
export async function findSignInSettings({ prisma }: RecordStore, schoolId: SchoolId): Promise<SignInSettings | null> {
  const school = await prisma.school.findUnique({
    where: { id: schoolId },
    select: { schoolingLevel: true, signIn: { omit: { schoolId: true } } },
  });
  return school && (school.signIn ?? defaultsOf(school.schoolingLevel));
}

/** As `findSignInSettings`. Errors: not_found school_not_found. */
export async function getSignInSettings(db: RecordStore, schoolId: SchoolId): Promise<SignInSettings> {
  const settings = await findSignInSettings(db, schoolId);
  if (settings === null) throw new AppError("not_found", "school_not_found", "The school does not exist.");
  return settings;
}

const defaultsOf = (schoolingLevel: string | null): SignInSettings => ({
  userNameRule: "FIRST_DOT_LAST",
  passwordKind: levelsWithWords.has(schoolingLevel ?? "") ? "WORDS" : "LETTERS",
  mustChangePassword: false,
  ownPasswordFromGrade: null,
  passkeys: true,
  passkeysFromGrade: null,
  pupilSessionHours: null,
  staffSessionHours: null,
  staySignedInDays: 0,
  staySignedInFromGrade: null,
  helpText: null,
});

/** For staff who are at no school. */
const settingsAtNoSchool: SignInSettings = { ...defaultsOf(null), mustChangePassword: true };

export async function findSignInSettingsOf({ prisma }: RecordStore, personId: PersonId) {
  const person = await prisma.person.findUnique({ where: { id: personId }, select: { homeSchoolId: true } });
  if (person?.homeSchoolId === null) return settingsAtNoSchool;
  return person && findSignInSettings({ prisma }, person.homeSchoolId as SchoolId);
}

/** Locks the sign-in and card settings of a school until the end of the transaction. */
export const lockSchoolSettings = makeRowLock("school", "id", "sign-on.lockSchool");

/** Passkeys and sessions stay as they are if left out. Errors: invalid for a help text that is refused. */
export async function putSignInSettings(
  tx: Transaction,
  { schoolId, ...changes }: Omit<SignInSettings, Optional> & Partial<SignInSettings> & { schoolId: SchoolId },
  origin: Origin,
): Promise<void> {
  const helpText = changes.helpText === null ? null : checkLines("helpText", changes.helpText, longestHelpText);
  const settings = { ...changes, helpText };
  await tx.prisma.schoolSignIn.upsert({
    where: { schoolId },
    create: { schoolId, ...settings },
    update: settings,
  });
  await recordAudit(tx, { ...origin, action: "sign_in_settings_set", schoolId });
}
