import { Router } from "express";
import {
  classListPath,
  enterClassCode,
  findOpenClassList,
  signInFromList,
  type ListedPupil,
  type OpenClassList,
  type UsableCard,
} from "../../../accounts/index.ts";
import { hmac } from "../../../platform/crypto/seal.ts";
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
import { makeNameInClass } from "./name-in-class.ts";
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
  const opened = listCookie.read(request);
  return opened && findOpenClassList(request.deps.db, opened.id, deviceOf(request));
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
  const nameInClass = makeNameInClass(list.pupils);
  const handleOf = makeHandles(request, list);
  const pupils = list.pupils
    .map((pupil) => ({ name: nameInClass(pupil), url: pupil.isReady ? pupilPath(handleOf(pupil)) : null }))
    .sort((left, right) => left.name.localeCompare(right.name, "de"));
  const model = {
    className: list.className,
    pupils,
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

/** Handles are worth nothing in another lesson, nor in that of another class. */
const makeHandles =
  ({ deps }: PageRequest, { id }: OpenClassList) =>
  ({ personId }: ListedPupil): string =>
    hmac(deps.secrets.cardCookies)
      .update(JSON.stringify(["class list", id, personId]))
      .digest("base64url");

type OfPupil = { list: OpenClassList; pupil: ListedPupil & { name: string; handle: string } };

/** Calls the handler for the pupil of the address; without an open list, or for another's handle, shows the list. */
const ofPupil =
  (handle: (request: PageRequest, of: OfPupil) => void | Promise<void>) =>
  async (request: PageRequest): Promise<void> => {
    const list = await readList(request);
    if (list === null) return redirect(request, classListPath);
    const handleOf = makeHandles(request, list);
    const listed = list.pupils.find((one) => one.isReady && handleOf(one) === request.req.params["handle"]);
    if (listed === undefined) return redirect(request, classListPath);
    const pupil = { ...listed, name: makeNameInClass(list.pupils)(listed), handle: handleOf(listed) };
    return handle(request, { list, pupil });
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
  const answer = await signInFromList(db, {
    list,
    personId: pupil.personId,
    pictures: entered.pictures,
    keys: { pictures: secrets.cardAnswers, limits: secrets.signInTraces },
    requestId: requestIdOf(request),
    ...deviceOf(request),
  });
  if (answer.kind === "ok") return finish(request, list, answer.card);
  if (answer.kind === "wrong") return showPad(request, of, emptyPad("enter", "wrong"));
  if (answer.kind === "slowed")
    return showProblem(request, { reason: "slowed", retryAfterSeconds: answer.retryAfterSeconds });
  showProblem(request, { reason: answer.kind === "ended" ? "locked" : "card" });
}

async function finish(request: PageRequest, { endsAt }: OpenClassList, { personId, generation, cardId }: UsableCard) {
  const waiting = await findWaiting(request);
  if (waiting !== null) forgetWaiting(request);
  const seconds = Math.ceil((endsAt.getTime() - request.deps.clock().getTime()) / 1000) + afterLessonSeconds;
  await signIn(request, { personId, generation, cardId, amr: ["card"], isShared: true, seconds }, waiting ?? "/");
}

type Problem = { reason: "card" | "locked" | "slowed"; retryAfterSeconds?: number };

const showProblem = (request: PageRequest, problem: Problem): void =>
  sendPage(request, renderClassProblemPage({ ...problem, listPath: classListPath }, contextOf(request)));
