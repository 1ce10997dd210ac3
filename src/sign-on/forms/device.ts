import type { Request, Response } from "express";
import type { InteractionDeps } from "../protocol/deps.ts";

const name = "_device";
const yearMs = 365 * 24 * 3600 * 1000;

/** Reads the cookie by which a browser is recognised as one that a person signed in with before. */
export function readDevice({ provider }: InteractionDeps, req: Request, res: Response): string | null {
  return provider().createContext(req, res).cookies.get(name, { signed: false }) ?? null;
}

export function rememberDevice({ provider }: InteractionDeps, req: Request, res: Response, device: string): void {
  const { cookies } = provider().createContext(req, res);
  cookies.set(name, device, { signed: false, httpOnly: true, sameSite: "lax", maxAge: yearMs });
}
