import type { Request, Response } from "express";
import type { PasswordCheck } from "../../accounts/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { readDevice } from "./device.ts";
import { fieldOf } from "./form.ts";
import type { LoginModel } from "./pages/index.ts";
import { sealWaiting, takeTyped, type TypedSignIn } from "./waiting-sign-in.ts";

export type LoginProblem = LoginModel["problem"];

export type CheckedLogin =
  | { kind: "ok"; check: Extract<PasswordCheck, { kind: "ok" }>; isShared: boolean }
  | { kind: "busy"; waiting: string; retryAfterSeconds: number }
  | { kind: "problem"; problem: LoginProblem; typed?: TypedSignIn };

/** Checks the user name and password of a login form. */
export async function checkLogin(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  browser: string,
): Promise<CheckedLogin> {
  const typed = await takeTyped(deps, req, browser);
  if (typed === null) return { kind: "problem", problem: { kind: "expired_form" } };
  const { isShared, ...login } = typed;
  const missing = (["username", "password"] as const).filter((name) => login[name] === "");
  if (missing.length > 0) return { kind: "problem", problem: { kind: "missing", fields: missing }, typed };
  const device = readDevice(deps, req, res);
  const check = await deps.checkPassword({ ...login, address: req.ip ?? "", device, now: deps.clock() });
  if (check.kind === "ok") return { kind: "ok", check, isShared };
  if (check.kind !== "busy") return { kind: "problem", problem: check, typed };
  const { turnAt, retryAfterSeconds } = check;
  return { kind: "busy", waiting: sealWaiting(deps, typed, { turnAt, browser }), retryAfterSeconds };
}

/** Whether the form asks to forget the person whom the login page greets. */
export const asksToForget = (req: Request): boolean => fieldOf(req, "forget") !== "";
