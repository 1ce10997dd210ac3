import { type App, type ClientId, findApp } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { makeLoginHint } from "../../protocol/login-hint.ts";
import { type PageRequest, readCookie, setCookie } from "../page-request.ts";
import type { WayToApp } from "../pages/index.ts";
import type { Visit } from "./show.ts";

export const appCookie = "_app";

/** Stores the app of a sign-on in the browser, because its page can be reached with Back after the sign-on is over. */
export function rememberApp(visit: Visit): void {
  const value = Buffer.from(visit.clientId).toString("base64url");
  setCookie(visit, appCookie, value, { signed: false, path: visit.req.path });
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
