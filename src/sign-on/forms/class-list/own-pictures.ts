import { Router } from "express";
import { choosePictures, findPictureCode, tryPictures } from "../../../accounts/index.ts";
import type { PersonId, SchoolId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findSignedIn } from "../../protocol/signed-in.ts";
import {
  addressOf,
  addressWith,
  contextOf,
  isOwnForm,
  makeFormToken,
  makeSealedCookie,
  onPage,
  readForm,
  redirect,
  requestIdOf,
  returnPathOf,
  sendPage,
  signInPath,
  type PageRequest,
} from "../page-request.ts";
import { renderClassProblemPage, renderPicturesPage } from "../pages/index.ts";
import { emptyPad, readChosen, readEntered } from "./picture-pad.ts";

const path = `${signInPath}/pictures`;

/** Who has just tapped their present pictures in this session. */
const provedCookie = makeSealedCookie<{ sessionUid: string }>("_pictures", {
  secret: "cardCookies",
  purpose: "own pictures",
  seconds: 600,
});

type Owner = { personId: PersonId; schoolId: SchoolId; sessionUid: string; mayChoose: boolean };

export function makeOwnPicturesRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get(path, onPage(deps, ofOwner(showOwn)));
  router.post(path, readForm, onPage(deps, ofOwner(changeOwn)));
  return router;
}

/** In a session without a password, which a neighbour may have found open, the present pictures come first. */
const ofOwner =
  (handle: (request: PageRequest, owner: Owner) => void | Promise<void>) =>
  async (request: PageRequest): Promise<void> => {
    const { deps, req, res } = request;
    const signedIn = await findSignedIn(deps, req, res);
    if (signedIn === null) return redirect(request, addressWith(signInPath, addressOf(request, path)));
    const { personId, sessionUid, hasStaffFactor } = signedIn;
    const { state, schoolId } = await findPictureCode(deps.db, personId);
    if (schoolId === null) return redirect(request, returnPathOf(request));
    const mayChoose = hasStaffFactor || provedCookie.read(request)?.sessionUid === sessionUid;
    if (state === "LOCKED" && !hasStaffFactor) return showLocked(request);
    return handle(request, { personId, schoolId, sessionUid, mayChoose });
  };

const showLocked = (request: PageRequest): void =>
  sendPage(
    request,
    renderClassProblemPage({ reason: "locked", listPath: returnPathOf(request) }, contextOf(request, path)),
  );

function showPad(request: PageRequest, pad: ReturnType<typeof emptyPad>): void {
  const action = addressOf(request, path);
  const back = { url: returnPathOf(request), kind: "cancel" as const };
  const model = { ...pad, name: null, action, csrf: makeFormToken(request, path), back };
  sendPage(request, renderPicturesPage(model, contextOf(request, path)));
}

const stepOf = ({ mayChoose }: Owner) => (mayChoose ? "choose" : "enter");

const showOwn = (request: PageRequest, owner: Owner): void => showPad(request, emptyPad(stepOf(owner)));

async function changeOwn(request: PageRequest, owner: Owner): Promise<void> {
  const { db, clock, secrets } = request.deps;
  if (!isOwnForm(request, path)) return showPad(request, emptyPad(stepOf(owner), "again"));
  const entered = owner.mayChoose ? readChosen(request) : readEntered(request);
  if (entered.pad !== null) return showPad(request, entered.pad);
  const { personId, schoolId, sessionUid } = owner;
  const origin = { at: clock(), requestId: requestIdOf(request) };
  const entry = { personId, schoolId, pictures: entered.pictures, key: secrets.cardAnswers };
  if (owner.mayChoose) {
    await choosePictures(db, entry, origin);
    provedCookie.forget(request);
    return redirect(request, returnPathOf(request));
  }
  const answer = await tryPictures(db, entry, origin);
  if (answer === "wrong") return showPad(request, emptyPad("enter", "wrong"));
  if (answer === "ended") return showLocked(request);
  provedCookie.write(request, { sessionUid });
  redirect(request, addressOf(request, path));
}
