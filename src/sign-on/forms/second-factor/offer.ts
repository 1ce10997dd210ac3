import { Router } from "express";
import { declinePasskey } from "../../../accounts/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { type Offered, offerCookie } from "../offered-passkey.ts";
import {
  addressOf,
  contextOf,
  fieldOf,
  isOwnForm,
  onPage,
  type PageRequest,
  passkeyOfferPath,
  readLargeForm,
  redirect,
  returnPathOf,
} from "../page-request.ts";
import { readWaitingTargets } from "../waiting-app.ts";
import { readPasskeyForm, showCodes, showNewPasskey, storeFactor } from "./set-up.ts";

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

function show(request: PageRequest, { personId }: Offered, isRefused = false): Promise<void> {
  const context = contextOf(request, passkeyOfferPath);
  const [action, back] = [addressOf(request, passkeyOfferPath), returnPathOf(request)];
  return showNewPasskey(request, personId, {
    form: passkeyOfferPath,
    userVerification: "required",
    page: { isRefused, isOffered: true, action, back },
    context: { ...context, formTargets: [...context.formTargets, ...readWaitingTargets(request)] },
  });
}

const answer: Handle = async (request, offered) => {
  const { personId, generation } = offered;
  if (!isOwnForm(request, passkeyOfferPath)) return show(request, offered, true);
  if (fieldOf(request, "never") !== "") {
    await declinePasskey(request.deps.db, { personId, at: request.deps.clock() });
    return leave(request);
  }
  const factor = await readPasskeyForm(request, personId, true);
  const codes = factor && (await storeFactor(request, { personId, factor, generation }));
  if (factor === null || codes === "taken") return show(request, offered, true);
  if (codes === null) return leave(request);
  offerCookie.forget(request);
  showCodes(request, codes, returnPathOf(request));
};

function leave(request: PageRequest): void {
  offerCookie.forget(request);
  redirect(request, returnPathOf(request));
}
