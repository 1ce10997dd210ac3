import { Router } from "express";
import {
  checkCardOf,
  classListPath,
  enterClassCode,
  findOpenClassList,
  listClassPupils,
  recordListUse,
  takeListTry,
  tryPictures,
  type ListedPupil,
  type OpenClassList,
} from "../../../accounts/index.ts";
import { hmac } from "../../../platform/crypto/hmac.ts";
import { readLocale } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { signIn } from "../complete-sign-in.ts";
import { keepClass } from "../last-sign-in.ts";
import {
  fieldOf,
  isOwnForm,
  makeFormToken,
  onPage,
  readForm,
  redirect,
  requestIdOf,
  sendPage,
  signInPath,
  type PageRequest,
} from "../page-request.ts";
import {
  renderClassCodePage,
  renderClassListPage,
  renderClassProblemPage,
  renderPicturesPage,
  type ClassCodeModel,
} from "../pages/index.ts";
import { findWaiting, forgetWaiting, readWaitingTargets } from "../waiting-app.ts";
import { listCookie } from "./device.ts";
import { nameInClass } from "./name-in-class.ts";
import { emptyPad, readEntered } from "./picture-pad.ts";

const leavePath = `${classListPath}/leave`;
const pupilPath = (handle: string): string => `${classListPath}/pupils/${handle}`;

/** Somebody who signs in at the end of a lesson may finish what they began. */
const afterLessonSeconds = 600;

/**
 * Serves the list of a class on a shared device: the code of the lesson opens it in this browser, a pupil taps their
 * name and their pictures, and continues to the app that waits, or to the tiles.
 */
export function makeClassListSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(classListPath, onPage(deps, showList));
  router.post(classListPath, readForm, onPage(deps, enterCode));
  router.post(leavePath, readForm, onPage(deps, leaveList));
  router.get(
    pupilPath(":handle"),
    onPage(
      deps,
      ofPupil((request, of) => showPad(request, of, emptyPad("enter"))),
    ),
  );
  router.post(pupilPath(":handle"), readForm, onPage(deps, ofPupil(signInPupil)));
  return router;
}

const contextOf = ({ req }: PageRequest) => ({
  locale: readLocale(req),
  languageUrl: (lang: string) => `${req.path}?lang=${lang}`,
});

const deviceOf = ({ deps, req }: PageRequest) => ({ at: deps.clock(), address: req.ip ?? "" });

async function readList(request: PageRequest): Promise<OpenClassList | null> {
  const kept = listCookie.read(request);
  return kept && findOpenClassList(request.deps.db, kept.id, deviceOf(request));
}

function showCode(request: PageRequest, problem: ClassCodeModel["problem"] = null): void {
  const model = { action: classListPath, csrf: makeFormToken(request, classListPath), problem, signInPath };
  sendPage(request, renderClassCodePage(model, contextOf(request)));
}

async function showList(request: PageRequest): Promise<void> {
  const list = await readList(request);
  if (list === null) {
    listCookie.forget(request);
    return showCode(request);
  }
  const pupils = await listPupils(request, list);
  const model = {
    className: list.className,
    pupils: pupils.map(({ name, handle, isReady }) => ({ name, url: isReady ? pupilPath(handle) : null })),
    leave: { action: leavePath, csrf: makeFormToken(request, leavePath) },
  };
  sendPage(request, renderClassListPage(model, contextOf(request)));
}

async function enterCode(request: PageRequest): Promise<void> {
  const { db, secrets } = request.deps;
  if (!isOwnForm(request, classListPath)) return showCode(request, { kind: "expired_form" });
  const keys = { codes: secrets.cardAnswers, limits: secrets.signInTraces };
  const entered = await enterClassCode(db, { typed: fieldOf(request, "code"), keys, ...deviceOf(request) });
  if (entered.kind !== "open") return showCode(request, entered);
  listCookie.write(request, { id: entered.list.id });
  keepClass(request, entered.list.schoolId);
  redirect(request, classListPath);
}

function leaveList(request: PageRequest): void {
  if (isOwnForm(request, leavePath)) listCookie.forget(request);
  redirect(request, classListPath);
}

type NamedPupil = ListedPupil & { name: string; handle: string };

/** Handles are worth nothing in another lesson, nor in that of another class. */
async function listPupils({ deps }: PageRequest, list: OpenClassList): Promise<NamedPupil[]> {
  const pupils = await listClassPupils(deps.db, list, deps.clock());
  const handleOf = ({ personId }: ListedPupil): string =>
    hmac(deps.secrets.cardCookies)
      .update(JSON.stringify(["class list", list.id, personId]))
      .digest("base64url");
  const named = pupils.map((one) => ({ ...one, name: nameInClass(one, pupils), handle: handleOf(one) }));
  return named.toSorted((left, right) => left.name.localeCompare(right.name, "de"));
}

type OfPupil = { list: OpenClassList; pupil: NamedPupil };

/** Calls the handler for the pupil of the address; without an open list, or for another's handle, shows the list. */
const ofPupil =
  (handle: (request: PageRequest, of: OfPupil) => void | Promise<void>) =>
  async (request: PageRequest): Promise<void> => {
    const list = await readList(request);
    const pupils = list === null ? [] : await listPupils(request, list);
    const pupil = pupils.find((one) => one.isReady && one.handle === request.req.params["handle"]);
    return list !== null && pupil !== undefined ? handle(request, { list, pupil }) : redirect(request, classListPath);
  };

function showPad(request: PageRequest, { pupil }: OfPupil, pad: ReturnType<typeof emptyPad>): void {
  const action = pupilPath(pupil.handle);
  const back = { url: classListPath, kind: "notMe" as const };
  const model = { ...pad, name: pupil.name, action, csrf: makeFormToken(request, action), back };
  sendPage(request, renderPicturesPage(model, { ...contextOf(request), formTargets: readWaitingTargets(request) }));
}

async function signInPupil(request: PageRequest, of: OfPupil): Promise<void> {
  const { list, pupil } = of;
  const { db, secrets } = request.deps;
  if (!isOwnForm(request, pupilPath(pupil.handle))) return showPad(request, of, emptyPad("enter", "again"));
  const entered = readEntered(request);
  if (entered.pad !== null) return showPad(request, of, entered.pad);
  const device = deviceOf(request);
  const check = await checkCardOf(db, { personId: pupil.personId, schoolId: list.schoolId, ...device });
  if (check.kind !== "usable") return showProblem(request, { reason: "card" });
  const taken = await takeListTry(db, { id: list.id, key: secrets.signInTraces, at: device.at });
  if (taken.kind === "slowed") return showProblem(request, { reason: "slowed", ...taken });
  const origin = { at: device.at, requestId: requestIdOf(request) };
  const tried = { personId: pupil.personId, pictures: entered.pictures, key: secrets.cardAnswers };
  const answer = await tryPictures(db, tried, origin);
  if (answer === "wrong") return showPad(request, of, emptyPad("enter", "wrong"));
  if (answer === "ended") return showProblem(request, { reason: "locked" });
  await taken.giveBack();
  const { personId, schoolId, cardId, generation } = check.card;
  await recordListUse(db, list, { personId, schoolId, cardId, ...origin });
  const waiting = await findWaiting(request);
  if (waiting !== null) forgetWaiting(request);
  const seconds = Math.ceil((list.endsAt.getTime() - device.at.getTime()) / 1000) + afterLessonSeconds;
  const person = { personId, generation, cardId, amr: ["card"], isShared: true, seconds };
  await signIn(request, person, waiting ?? "/");
}

type Problem = { reason: "card" | "locked" | "slowed"; retryAfterSeconds?: number };

const showProblem = (request: PageRequest, problem: Problem): void =>
  sendPage(request, renderClassProblemPage({ ...problem, listPath: classListPath }, contextOf(request)));
