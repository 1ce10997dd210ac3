import { bucketsOfAddress } from "../../../accounts/index.ts";
import type { SchoolId } from "../../../directory/index.ts";
import { hmac } from "../../../platform/crypto/seal.ts";
import { uuidPattern } from "../../../platform/crypto/ids.ts";
import { secondsUntil, takeTokens } from "../../../platform/database/token-bucket.ts";
import { type FoundSchool, findSchoolByLinkName, findSchoolsByWords } from "../../../upstream/index.ts";
import { findWaiting } from "../waiting-app.ts";
import { keepSchool } from "../last-sign-in.ts";
import {
  fieldOf,
  type PageRequest,
  redirect,
  sendPage,
  addressOf,
  contextOf,
  returnPathOf,
  signInPath,
  isOwnForm,
  makeFormToken,
  chosenSchoolPath,
  schoolSearchPath,
} from "../page-request.ts";
import { renderSchoolSearchPage, type SchoolSearchModel } from "../pages/index.ts";

const longestWords = 100;

/** Enough for the classes of a school on their first day. */
const searches = {
  address: { capacity: 600, refillSeconds: 3600 },
  site: { capacity: 3000, refillSeconds: 3600 },
};

/** Finds the schools that have a login of their own, by name and place. */
export async function searchSchools(request: PageRequest): Promise<void> {
  const { deps, req } = request;
  const { q } = req.query;
  // PostgreSQL accepts no NUL character, and no name has one.
  const words = typeof q === "string" ? q.replaceAll("\0", "").trim().slice(0, longestWords) : "";
  if (words === "") return show(request, { words, schools: null });
  const keyOf = (_kind: string, part: string) =>
    hmac(deps.secrets.signInTraces).update(`school search\0${part}`).digest();
  const now = deps.clock();
  const wait = await takeTokens(deps.db.pool, bucketsOfAddress(req.ip ?? "", searches, keyOf), now);
  if (wait !== null) {
    const problem = { kind: "slowed" as const, retryAfterSeconds: secondsUntil(wait, now) };
    return show(request, { words, schools: null, problem });
  }
  show(request, { words, schools: await findSchoolsByWords(deps.db, words) });
}

/** Keeps the school that was chosen, and goes back to the sign-in page. */
export function chooseSchool(request: PageRequest): void {
  const schoolId = fieldOf(request, "schoolId");
  if (isOwnForm(request, chosenSchoolPath) && uuidPattern.test(schoolId)) keepSchool(request, schoolId as SchoolId);
  redirect(request, backOf(request));
}

/** The link of a school: its page for signing in, for an app if one waits in this browser. */
export async function openSchoolLink(request: PageRequest): Promise<void> {
  const { deps, req } = request;
  const linkName = String(req.params["linkName"]).toLowerCase();
  const school: FoundSchool | null = /^[a-z0-9-]{1,64}$/.test(linkName)
    ? await findSchoolByLinkName(deps.db, linkName)
    : null;
  if (school === null) return show(request, { words: "", schools: null, isUnknown: true });
  keepSchool(request, school.schoolId);
  const waiting = await findWaiting(request);
  redirect(request, waiting === null ? signInPath : `/interaction/${waiting.uid}`);
}

type SearchResult = Pick<SchoolSearchModel, "words" | "schools"> & Partial<SchoolSearchModel>;

function show(request: PageRequest, search: SearchResult): void {
  const model: SchoolSearchModel = {
    isUnknown: false,
    problem: null,
    path: schoolSearchPath,
    returnPath: returnPathOf(request),
    action: addressOf(request, chosenSchoolPath),
    csrf: makeFormToken(request, chosenSchoolPath),
    back: backOf(request),
    ...search,
  };
  sendPage(request, renderSchoolSearchPage(model, contextOf(request, schoolSearchPath)));
}

/** The sign-in page from which somebody searches. */
function backOf(request: PageRequest): string {
  const path = returnPathOf(request);
  return path === "/" ? signInPath : path;
}
