import type { Request, Response } from "express";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { endSession } from "../protocol/logout/end-session.ts";
import { limitSessions } from "../protocol/logout/limit-sessions.ts";
import { answerInteraction, forgetSession, type Interaction, startSession } from "../protocol/provider/library.ts";
import { makeBinding } from "../protocol/session-binding.ts";
import { secondsOfSession, sharedDevice } from "../protocol/shared-device.ts";
import { readLastSignIn } from "./last-sign-in.ts";
import { setSessionCookie } from "./platform-session.ts";

/** Whether the person is asked to switch because the app hinted at another person. */
export const asksToSwitch = ({ prompt }: Interaction): boolean => prompt.reasons.includes("login_hint");

/** Who has proved who they are, and how. Without `isShared` the device is what it was at the sign-in before. */
export type ProvedPerson = {
  personId: PersonId;
  generation: number;
  cardId?: string;
  amr: readonly string[];
  isShared?: boolean | undefined;
};

/**
 * Signs a person in and sends the browser on. Every way of signing in ends here.
 *
 * `to` is the interaction of the app that waits, or the path of this service that is next.
 */
export async function signIn(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  { personId, generation, cardId, amr, isShared = readLastSignIn(deps, req, res).isShared }: ProvedPerson,
  to: Interaction | string,
): Promise<void> {
  const standing = { generation, cardId: cardId ?? null };
  const acr = isShared ? sharedDevice : undefined;
  if (typeof to !== "string") {
    await leaveSession(deps, req, res, { unlessOf: personId, interaction: to });
    const login = { accountId: personId, remember: false, amr: [...amr], ...(acr && { acr }) };
    const hint = asksToSwitch(to) ? { hint: { answered: true } } : {};
    return res.redirect(303, await answerInteraction(to, { login, ...hint }, standing));
  }
  await leaveSession(deps, req, res, { unlessOf: null, interaction: null });
  await limitSessions(deps.db, { personId, at: deps.clock() });
  const provider = deps.provider();
  const now = Math.floor(Date.now() / 1000);
  const seconds = secondsOfSession({ acr, loginTs: now }, { sessionSeconds: deps.sessionSeconds, now });
  const browser = makeBinding(provider.createContext(req, res));
  setSessionCookie(deps, req, res, await startSession(provider, { personId, browser, amr, acr, seconds, standing }));
  res.redirect(303, to);
}

/** Ends the session of the browser. The library itself would send the browser through a form that a script posts. */
export async function leaveSession(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  { unlessOf, interaction }: { unlessOf: PersonId | null; interaction: Interaction | null },
): Promise<void> {
  const provider = deps.provider();
  const { accountId, uid } = await provider.Session.get(provider.createContext(req, res));
  if (accountId === undefined || accountId === unlessOf) return;
  if (interaction !== null) await forgetSession(interaction);
  await endSession(deps.db, { uid, at: deps.clock(), requestId: res.locals["requestId"] as string | undefined });
}
