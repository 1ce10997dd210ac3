import { type Interaction, restoreInteraction } from "../protocol/provider/library.ts";
import { appCookie, type PageRequest, readCookie, sessionOf, setCookie } from "./page-request.ts";
import { type App, type ClientId, findApp } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { makeLoginHint } from "../protocol/login-hint.ts";
import type { WayToApp } from "./pages/index.ts";
import { hashId } from "../protocol/storage/artifact.ts";

const waitingCookie = "_waiting_app";
const cookie = { signed: true, path: "/" };

/** Lets a card that this browser scans later continue the sign-on of an app. */
export function rememberWaiting(request: PageRequest, { uid }: Interaction, formTargets: readonly string[]): void {
  setCookie(request, waitingCookie, `${uid}.${Buffer.from(formTargets.join(" ")).toString("base64url")}`, cookie);
}

function readWaiting(request: PageRequest): { uid: string; targets: string[] } | null {
  const value = readCookie(request, waitingCookie, cookie);
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
  const waiting = await findInteraction(request, id);
  if (waiting?.interaction.prompt.name !== "login") return null;
  const { interaction } = waiting;
  if (interaction.session === undefined) return interaction;
  // The library continues only with the session that the sign-on began with.
  const { uid } = await sessionOf(request);
  return interaction.session.uid === uid ? interaction : null;
}

export const forgetWaiting = (request: PageRequest): void => setCookie(request, waitingCookie, null, cookie);

/** Stores the app of a sign-on in the browser, because its page can be reached with Back after the sign-on is over. */
export function rememberApp(request: PageRequest, clientId: ClientId): void {
  const value = Buffer.from(clientId).toString("base64url");
  setCookie(request, appCookie, value, { signed: false, path: request.req.path });
}

/** Finds where the app of an ended sign-on starts a new one; null if the browser does not say. */
export async function findWayToApp(request: PageRequest, personId: PersonId | null): Promise<WayToApp | null> {
  const { deps } = request;
  const clientId = Buffer.from(readCookie(request, appCookie, { signed: false }) ?? "", "base64url").toString();
  // PostgreSQL accepts no NUL character, and no client id has one.
  const app = /^[\x20-\x7e]+$/.test(clientId) ? await findApp(deps.db.pool, clientId as ClientId) : null;
  const url = app && addressOf(deps, app, personId);
  return app !== null && url !== null ? { name: app.name, url } : null;
}

/** The login URL of the app, as on its tile, or its first page; null for an app on a phone. */
function addressOf({ issuerUrl, secrets }: InteractionDeps, app: App, personId: PersonId | null): string | null {
  if (app.loginUrl !== null) {
    const url = new URL(app.loginUrl);
    url.searchParams.set("iss", issuerUrl);
    if (personId !== null) url.searchParams.set("login_hint", makeLoginHint(secrets.loginHint, personId, app.clientId));
    return url.href;
  }
  const origins = app.redirectUris.map((uri) => new URL(uri)).filter(({ protocol }) => /^https?:$/.test(protocol));
  return origins[0] === undefined ? null : `${origins[0].origin}/`;
}

type FoundInteraction = {
  interaction: Interaction;
  /** Null if it was deleted. */
  app: App | null;
  logoPath: string | null;
};

/** Null if the interaction, or the session that it began with, has ended. */
export async function findInteraction({ deps }: PageRequest, id: string): Promise<FoundInteraction | null> {
  const lookup = await deps.store.findInteraction(hashId(id));
  if (lookup === null || lookup.expiresAt <= deps.clock()) return null;
  const { payload, app, logoPath, sessionPersonId } = lookup;
  const interaction = restoreInteraction(deps.provider(), id, payload);
  const hasSession = interaction.session?.uid !== undefined;
  return hasSession && interaction.session?.accountId !== sessionPersonId ? null : { interaction, app, logoPath };
}
