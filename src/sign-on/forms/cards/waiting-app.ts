import type { Request, Response } from "express";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { interactionSeconds } from "../../protocol/provider/open-interactions.ts";
import type { Interaction } from "../complete-sign-in.ts";
import { cookiesOf } from "../platform-session.ts";

const name = "_waiting_app";

/** Lets a card that this browser scans from now on go on with the sign-on of an app. */
export function rememberWaiting(deps: InteractionDeps, req: Request, res: Response, { uid }: Interaction): void {
  const options = {
    path: "/",
    maxAge: interactionSeconds * 1000,
    httpOnly: true,
    sameSite: "lax",
    signed: true,
  } as const;
  cookiesOf(deps, req, res).set(name, uid, options);
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

export const forgetWaiting = (deps: InteractionDeps, req: Request, res: Response): void =>
  void cookiesOf(deps, req, res).set(name, null, { path: "/", signed: true });
