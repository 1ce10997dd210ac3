import type { Interaction } from "../../protocol/provider/library.ts";
import { type PageRequest, readCookie, sessionOf, setCookie } from "../page-request.ts";

const name = "_waiting_app";
const cookie = { signed: true, path: "/" };

/** Lets a card that this browser scans later continue the sign-on of an app. */
export function rememberWaiting(request: PageRequest, { uid }: Interaction, formTargets: readonly string[]): void {
  const targets = Buffer.from(formTargets.join(" ")).toString("base64url");
  setCookie(request, name, `${uid}.${targets}`, cookie);
}

function readWaiting(request: PageRequest): { uid: string; targets: string[] } | null {
  const value = readCookie(request, name, cookie);
  if (!value) return null;
  const [uid = "", targets = ""] = value.split(".");
  return { uid, targets: Buffer.from(targets, "base64url").toString().split(" ").filter(Boolean) };
}

export const readWaitingTargets = (request: PageRequest): string[] => readWaiting(request)?.targets ?? [];

/** The sign-on of an app that still waits in this browser for somebody to sign in. */
export async function findWaiting(request: PageRequest): Promise<Interaction | null> {
  const waiting = readWaiting(request);
  return waiting && findOpenInteraction(request, waiting.uid);
}

/** The sign-on of an app if it still waits for somebody to sign in. */
export async function findOpenInteraction(request: PageRequest, id: string): Promise<Interaction | null> {
  const found = await request.deps.findInteraction(id);
  if (found?.interaction.prompt.name !== "login") return null;
  const { interaction } = found;
  if (interaction.session === undefined) return interaction;
  // The library continues only with the session that the sign-on began with.
  const { uid } = await sessionOf(request);
  return interaction.session.uid === uid ? interaction : null;
}

export const forgetWaiting = (request: PageRequest): void => setCookie(request, name, null, cookie);
