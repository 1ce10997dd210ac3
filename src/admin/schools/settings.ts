import * as accounts from "../../accounts/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { closeEmergencyIn, findWayInSettings, openEmergencyIn, putWayInIn } from "../../upstream/index.ts";
import { cardTexts, listUnknownPlaceholders } from "../card-pdf/texts.ts";
import { answerRecord, changeRecord, commitDone, type ChangeRequest } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type Schemas } from "../handler.ts";
import { schoolUnknown } from "../reached.ts";

type Put<Body> = ChangeRequest & { schoolId: SchoolId; body: Body };

export const settingsOfSchool = <Settings extends object, Body>(
  read: (db: RecordStore, schoolId: SchoolId, deps: AdminDeps) => Promise<Settings>,
  write: (tx: Transaction, request: Put<Body>, deps: AdminDeps) => Promise<unknown>,
) => ({
  get: async (deps: AdminDeps, { schoolId }: { schoolId: SchoolId }) =>
    answerRecord(await read(deps.db, schoolId, deps)),
  put: (deps: AdminDeps, request: Put<Body>) =>
    changeRecord(deps, request, {
      touch: (tx) => accounts.lockSchoolSettings(tx, request.schoolId),
      record: (tx) => read(tx, request.schoolId, deps),
      work: (tx) => write(tx, request, deps),
    }),
});

export const { get: getCardSettings, put: putCardSettings } = settingsOfSchool(
  async (db, schoolId) => present("CardSettings", await accounts.readCardSettings(db, schoolId)),
  (tx, { schoolId, body, origin }: Put<Schemas["CardSettingsInput"]>) =>
    accounts.writeCardSettings(tx, schoolId, body, origin),
);

export const { get: getSignInSettings, put: putSignInSettings } = settingsOfSchool(
  async (db, schoolId) => {
    const settings = await accounts.findSignInSettings(db, schoolId);
    if (settings === null) throw schoolUnknown();
    return present("SignInSettings", settings);
  },
  (tx, { schoolId, body, origin }: Put<Schemas["SignInSettings"]>) =>
    accounts.putSignInSettings(tx, { schoolId, ...body }, origin),
);

const letters = { de: cardTexts("de")("letter"), en: cardTexts("en")("letter") };
const mostLines = 40;

export const { get: getParentLetter, put: putParentLetter } = settingsOfSchool(
  async (db, schoolId) => ({ text: await accounts.findParentLetter(db, schoolId), defaults: letters }),
  (tx, { schoolId, body: { text }, origin }: Put<Schemas["ParentLetterInput"]>) => {
    refuseFaults(text ?? "");
    return accounts.putParentLetter(tx, { schoolId, text }, origin);
  },
);

function refuseFaults(letter: string): void {
  const [unknown] = listUnknownPlaceholders(letter);
  if (unknown !== undefined)
    throw new AppError(
      "invalid",
      "letter_placeholder_unknown",
      `Nothing can be put in the place of ${unknown}. Use {name}, {class}, {school}, {address} and {username}.`,
    );
  if (letter.split("\n").length > mostLines)
    throw new AppError(
      "invalid",
      "letter_too_long",
      `The letter has more than ${mostLines} lines, which do not fit on a page.`,
    );
}

export const { get: getWayIn, put: putWayIn } = settingsOfSchool(
  async (db, schoolId, { issuerUrl, clock }) => {
    const { linkName, localPasswords, emergencyUntil } = await findWayInSettings(db, schoolId);
    const isOpen = emergencyUntil !== null && emergencyUntil > clock();
    const url = linkName === null ? null : new URL(`/s/${linkName}`, issuerUrl).href;
    return present("WayIn", { linkName, url, localPasswords, emergencyUntil: isOpen ? emergencyUntil : null });
  },
  (tx, { schoolId, body, origin }: Put<Schemas["WayInInput"]>) => putWayInIn(tx, { schoolId, ...body }, origin),
);

const changeEmergency =
  (
    change: (...openOrClose: Parameters<typeof openEmergencyIn>) => Promise<unknown>,
  ): AdminHandler<"setEmergencySignIn" | "withdrawEmergencySignIn"> =>
  (deps, request) =>
    commitDone(deps, request, (tx) => change(tx, request.schoolId, request.origin));

export const setEmergencySignIn = changeEmergency(openEmergencyIn);
export const withdrawEmergencySignIn = changeEmergency(closeEmergencyIn);
