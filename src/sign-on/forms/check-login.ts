import type { PasswordCheck } from "../../accounts/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { readDevice } from "./device.ts";
import { fieldOf, type PageRequest } from "./page-request.ts";
import type { LoginModel, WaitingModel } from "./pages/index.ts";
import { sealWaiting, takeTyped, type TypedSignIn } from "./waiting-sign-in.ts";

export type LoginProblem = LoginModel["problem"];

/** The fields of the login form, sealed until the person's turn. */
export type WaitingLogin = Pick<WaitingModel, "waiting" | "retryAfterSeconds">;

type CheckedLogin =
  | { kind: "ok"; check: Extract<PasswordCheck, { kind: "ok" }>; isShared: boolean }
  | ({ kind: "busy" } & WaitingLogin)
  | { kind: "problem"; problem: LoginProblem; typed?: TypedSignIn };

export async function checkLogin(request: PageRequest, browser: string): Promise<CheckedLogin> {
  const { deps, req } = request;
  const typed = await takeTyped(request, browser);
  if (typed === null) return { kind: "problem", problem: { kind: "expired_form" } };
  const { isShared, ...login } = typed;
  const missing = (["username", "password"] as const).filter((name) => login[name] === "");
  if (missing.length > 0) return { kind: "problem", problem: { kind: "missing", fields: missing }, typed };
  const device = readDevice(request);
  const check = await deps.checkPassword({ ...login, address: req.ip ?? "", device, now: deps.clock() });
  if (check.kind === "ok") return { kind: "ok", check, isShared };
  if (check.kind !== "busy") return { kind: "problem", problem: check, typed };
  const { turnAt, retryAfterSeconds } = check;
  return { kind: "busy", waiting: sealWaiting(deps, typed, { turnAt, browser }), retryAfterSeconds };
}

/** The school whose own login the page offers after a password that the school does not use. */
export const schoolOf = (problem: LoginProblem): SchoolId | null =>
  problem?.kind === "not_used" ? problem.homeSchoolId : null;

/** Whether the form asks to forget the person whom the login page greets. */
export const asksToForget = (request: PageRequest): boolean => fieldOf(request, "forget") !== "";
