import type { Request, Response } from "express";
import { type App, type ClientId, findApp } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { makeLoginHint } from "../../protocol/login-hint.ts";
import type { WayToApp } from "../pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";

export const appCookie = "_app";
const hourMs = 3_600_000;

/** Lets this browser say, once the sign-on is over, for which app it was; the page can be reached with Back. */
export function rememberApp(deps: InteractionDeps, req: Request, res: Response, { clientId }: App): void {
  const options = { path: req.path, maxAge: hourMs, httpOnly: true, sameSite: "lax", signed: false } as const;
  deps.provider().createContext(req, res).cookies.set(appCookie, Buffer.from(clientId).toString("base64url"), options);
}

/** The way to the app that a sign-on, which is over, was for; null where the browser cannot say. */
export async function findWayToApp(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  personId: PersonId | null,
): Promise<WayToApp | null> {
  const kept = deps.provider().createContext(req, res).cookies.get(appCookie, { signed: false }) ?? "";
  const clientId = Buffer.from(kept, "base64url").toString();
  // PostgreSQL takes no NUL character, and no client id has one.
  const app = /^[\x20-\x7e]+$/.test(clientId) ? await findApp(deps.db.pool, clientId as ClientId) : null;
  const url = app && addressOf(deps, app, personId);
  return app !== null && url !== null ? { name: app.name, url } : null;
}

/** Where the app starts a sign-on, as on its tile; else the first page of the app; null for an app of a phone. */
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
