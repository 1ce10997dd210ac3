import { codeLength, isCodePicture, isPictureCode, type CodePicture } from "../../../accounts/index.ts";
import { fieldOf, type PageRequest } from "../page-request.ts";
import type { PicturesModel } from "../pages/index.ts";

/** What a page with pictures shows: those tapped so far, and the first three while they are tapped again. */
type Pad = Pick<PicturesModel, "step" | "tapped" | "first" | "problem">;

export const emptyPad = (step: Pad["step"], problem: Pad["problem"] = null): Pad => ({
  step,
  problem,
  tapped: [],
  first: [],
});

const readPictures = (request: PageRequest, field: string): CodePicture[] =>
  fieldOf(request, field).split(" ").filter(isCodePicture).slice(0, codeLength);

/** The pictures tapped so far. The script of the page posts all three at once; without it each tap posts. */
function readTapped(request: PageRequest): CodePicture[] {
  const tapped = readPictures(request, "tapped");
  if (fieldOf(request, "back") !== "") return tapped.slice(0, -1);
  return [...tapped, ...readPictures(request, "picture")].slice(0, codeLength);
}

export type PadAnswer = { pad: Pad } | { pad: null; pictures: CodePicture[] };

/** Returns the pictures once three are tapped, until then the page to show. */
export function readEntered(request: PageRequest): PadAnswer {
  const pictures = readTapped(request);
  return pictures.length < codeLength ? { pad: { ...emptyPad("enter"), tapped: pictures } } : { pad: null, pictures };
}

/** Returns new pictures once they were tapped twice, until then the page to show. */
export function readChosen(request: PageRequest): PadAnswer {
  const [first, tapped] = [readPictures(request, "first"), readTapped(request)];
  const step = first.length === 0 ? "choose" : "repeat";
  if (tapped.length < codeLength) return { pad: { ...emptyPad(step), first, tapped } };
  if (!isPictureCode(tapped)) return { pad: emptyPad("choose", "equal") };
  if (step === "choose") return { pad: { ...emptyPad("repeat"), first: tapped } };
  return tapped.join() === first.join() ? { pad: null, pictures: tapped } : { pad: emptyPad("choose", "differs") };
}
