import type { Request, Response } from "express";
import { formTarget } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import type { Interaction } from "../../protocol/provider/library.ts";
import { interactionSeconds } from "../../protocol/provider/open-interactions.ts";
import { cookiesOf } from "../platform-session.ts";

const name = "_waiting_app";

/** Lets a card that this browser scans from now on continue the sign-on of an app. */
export function rememberWaiting(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  { uid, params }: Interaction,
): void {
  const options = {
    path: "/",
    maxAge: interactionSeconds * 1000,
    httpOnly: true,
    sameSite: "lax",
    signed: true,
  } as const;
  const target = Buffer.from(formTarget(String(params["redirect_uri"]))).toString("base64url");
  cookiesOf(deps, req, res).set(name, `${uid}.${target}`, options);
}

type WaitingApp = { uid: string; target: string | null };

function readWaiting(deps: InteractionDeps, req: Request, res: Response): WaitingApp | null {
  const cookie = cookiesOf(deps, req, res).get(name, { signed: true });
  if (!cookie) return null;
  const [uid = "", target] = cookie.split(".");
  return { uid, target: target === undefined ? null : Buffer.from(target, "base64url").toString() };
}

/** The origin of the app that waits in this browser, as its cookie says. */
export const readWaitingTarget = (deps: InteractionDeps, req: Request, res: Response): string | null =>
  readWaiting(deps, req, res)?.target ?? null;

/** The sign-on of an app that waits in this browser for somebody to sign in; null if none does any longer. */
export async function findWaiting(deps: InteractionDeps, req: Request, res: Response): Promise<Interaction | null> {
  const provider = deps.provider();
  const waiting = readWaiting(deps, req, res);
  const found = waiting && (await deps.findInteraction(waiting.uid));
  if (found?.interaction.prompt.name !== "login") return null;
  const { interaction } = found;
  if (interaction.session === undefined) return interaction;
  // The library goes on with the session that the sign-on began with, and with no other.
  const { uid: present } = await provider.Session.get(provider.createContext(req, res));
  return interaction.session.uid === present ? interaction : null;
}

export const forgetWaiting = (deps: InteractionDeps, req: Request, res: Response): void =>
  void cookiesOf(deps, req, res).set(name, null, { path: "/", signed: true });
