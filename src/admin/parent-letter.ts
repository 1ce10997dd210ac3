import { findParentLetter, putParentLetter as put } from "../accounts/index.ts";
import { AppError } from "../platform/errors.ts";
import { cardTexts, listUnknownPlaceholders } from "./card-pdf/texts.ts";
import { answerRecord } from "./change.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { refuseUnknownSchool } from "./reached.ts";
import { changeSettings, type Read } from "./school-settings.ts";

const defaults = { de: cardTexts("de")("letter"), en: cardTexts("en")("letter") };
const mostLines = 40;

const read: Read<Schemas["ParentLetter"]> = async (db, schoolId) => ({
  text: await findParentLetter(db, schoolId),
  defaults,
});

export const getParentLetter: AdminHandler<"getParentLetter"> = async ({ db }, { schoolId, reach }) => {
  await refuseUnknownSchool(db, reach, schoolId);
  return answerRecord(await read(db, schoolId));
};

export const putParentLetter: AdminHandler<"putParentLetter"> = async (deps, request) => {
  const { schoolId, body, origin } = request;
  refuseFaults(body.text ?? "");
  return changeSettings(deps, request, { read, write: (tx) => put(tx, { schoolId, text: body.text }, origin) });
};

function refuseFaults(text: string): void {
  const [unknown] = listUnknownPlaceholders(text);
  if (unknown !== undefined)
    throw new AppError(
      "invalid",
      "letter_placeholder_unknown",
      `Nothing can be put in the place of ${unknown}. Use {name}, {class}, {school}, {address} and {username}.`,
    );
  if (text.split("\n").length > mostLines)
    throw new AppError(
      "invalid",
      "letter_too_long",
      `The letter has more than ${mostLines} lines, which do not fit on a page.`,
    );
}
