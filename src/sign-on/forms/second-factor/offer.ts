import { Router } from "express";
import {
  addSecondFactor,
  askForNewPasskey,
  declinePasskey,
  findLogin,
  readNewPasskey,
  renewRecoveryCodes,
} from "../../../accounts/index.ts";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { type Offered, offerCookie } from "../offered-passkey.ts";
import {
  addressOf,
  contextOf,
  fieldOf,
  isOwnForm,
  onPage,
  openForm,
  type PageRequest,
  passkeyOfferPath,
  readBrowser,
  readLargeForm,
  redirect,
  returnPathOf,
  sendPage,
} from "../page-request.ts";
import { renderPasskeyPage } from "../pages/index.ts";
import { readWaitingTargets } from "../waiting-app.ts";
import { isTaken, labelOf, namePasskey, originOf, refuseFull, showCodes } from "./set-up.ts";

type Handle = (request: PageRequest, offered: Offered) => Promise<void>;

/** Serves the page that offers a passkey after a sign-in; without an offer it goes on at once. */
export function makeOfferRouter(deps: InteractionDeps): Router {
  const ifOffered = (handle: Handle) =>
    onPage(deps, async (request) => {
      const offered = offerCookie.read(request);
      return offered === null ? redirect(request, returnPathOf(request)) : handle(request, offered);
    });
  return Router().get(passkeyOfferPath, ifOffered(show)).post(passkeyOfferPath, readLargeForm, ifOffered(answer));
}

async function show(request: PageRequest, { personId }: Offered, isRefused = false): Promise<void> {
  const { deps } = request;
  const { csrf, browser } = openForm(request, passkeyOfferPath);
  const username = (await findLogin(deps.db, personId, deps.clock()))?.username ?? "";
  const question = await askForNewPasskey(deps, { personId, browser }, { username, userVerification: "required" });
  const [action, back, label] = [addressOf(request, passkeyOfferPath), returnPathOf(request), labelOf(request, "")];
  const context = contextOf(request, passkeyOfferPath);
  const formTargets = [...context.formTargets, ...readWaitingTargets(request)];
  const model = { ...question, csrf, isRefused, isOffered: true, label, action, back };
  sendPage(request, renderPasskeyPage(model, { ...context, formTargets }));
}

const answer: Handle = async (request, offered) => {
  const { deps } = request;
  const { personId, generation } = offered;
  if (!isOwnForm(request, passkeyOfferPath)) return show(request, offered, true);
  const origin = originOf(request, personId);
  if (fieldOf(request, "never") !== "") {
    await declinePasskey(deps.db, { personId, at: origin.at });
    return leave(request);
  }
  const fields = { state: fieldOf(request, "state"), response: fieldOf(request, "passkey") };
  const passkey = await readNewPasskey(deps, { personId, browser: readBrowser(request) ?? "" }, fields, true);
  if (passkey === null) return show(request, offered, true);
  const [id, label] = [makeUuid(origin.at), labelOf(request, namePasskey(request))];
  const factor = { kind: "PASSKEY" as const, id, label, isAsked: false, ...passkey };
  const codes = await withPrismaTransaction(deps.db, async (tx) => {
    const { isFirst } = await addSecondFactor(tx, { personId, factor, origin, generation });
    return isFirst ? renewRecoveryCodes(tx, { personId, key: deps.secrets.recoveryCodes }) : null;
  })
    .catch(refuseFull)
    .catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      return "taken" as const;
    });
  if (codes === "taken") return show(request, offered, true);
  if (codes === null) return leave(request);
  offerCookie.forget(request);
  showCodes(request, codes, returnPathOf(request));
};

function leave(request: PageRequest): void {
  offerCookie.forget(request);
  redirect(request, returnPathOf(request));
}
