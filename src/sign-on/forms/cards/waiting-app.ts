import type { Request, Response } from "express";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { asksToSwitch, type Interaction } from "../interaction/show.ts";
import { leaveOtherSession } from "../interaction/steps.ts";
import { readLastSignIn } from "../last-sign-in.ts";
import { answerInteraction } from "../../protocol/provider/library.ts";
import { interactionSeconds } from "../../protocol/provider/open-interactions.ts";
import { sharedDevice } from "../../protocol/shared-device.ts";

const name = "_waiting_app";

/** Lets a card that this browser scans from now on go on with the sign-on of an app. */
export function rememberWaiting(deps: InteractionDeps, req: Request, res: Response, { uid }: Interaction): void {
  const options = { path: "/", maxAge: interactionSeconds * 1000, httpOnly: true, sameSite: "lax" } as const;
  deps
    .provider()
    .createContext(req, res)
    .cookies.set(name, uid, { ...options, signed: true });
}

/** The sign-on of an app that waits in this browser for somebody to sign in; null where none does, or no longer. */
export async function findWaiting(deps: InteractionDeps, req: Request, res: Response): Promise<Interaction | null> {
  const provider = deps.provider();
  const context = provider.createContext(req, res);
  const uid = context.cookies.get(name, { signed: true });
  const found = uid ? await provider.Interaction.find(uid) : undefined;
  if (found?.prompt.name !== "login") return null;
  if (found.session === undefined) return found;
  // The library goes on with the session that the sign-on began with, and with no other.
  const { uid: present } = await provider.Session.get(context);
  return found.session.uid === present ? found : null;
}

/** Signs the person in to the app that waits. The address where the browser goes on is one of this service. */
export async function finishWaiting(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  { waiting, personId, amr }: { waiting: Interaction; personId: PersonId; amr: readonly string[] },
): Promise<void> {
  await leaveOtherSession(deps, { interaction: waiting }, req, res, personId);
  const context = readLastSignIn(deps, req, res).isShared ? { acr: sharedDevice } : {};
  const login = { accountId: personId, remember: false, amr: [...amr], ...context };
  const hint = asksToSwitch({ interaction: waiting }) ? { hint: { answered: true } } : {};
  const address = await answerInteraction(waiting, { login, ...hint });
  deps.provider().createContext(req, res).cookies.set(name, null, { path: "/", signed: true });
  res.redirect(303, address);
}
