import { type PasswordCheck, longestPassword, longestTurnSeconds, makeKeyMaker } from "../../accounts/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { fieldOf, type PageRequest, readCookie, setCookie } from "./page-request.ts";
import type { LoginModel, WaitingModel } from "./pages/index.ts";
import { randomBytes } from "node:crypto";
import { makeSealed } from "../../platform/crypto/seal.ts";
import { takeToken } from "../../platform/database/token-bucket.ts";
import type { InteractionDeps } from "../protocol/deps.ts";

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

/** The fields of a login form; with `turnAt` if the person was told to come again then. */
type TypedSignIn = { username: string; password: string; isShared: boolean; turnAt?: Date };

type Waiting = { username: string; password: string; isShared: boolean; turnAt: string; browser: string; id: string };

const longestUsername = 256;

/** A browser may be asleep for a while when its turn comes. */
const sleepSeconds = 120;
const waitingSeconds = longestTurnSeconds + sleepSeconds;
const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<Waiting>(secrets.waitingSignIn, "waiting sign-in", waitingSeconds);

/** Makes the field of the waiting page: only the service can read it, once, from the same browser. */
function sealWaiting(
  deps: InteractionDeps,
  { username, password, isShared }: TypedSignIn,
  { turnAt, browser }: { turnAt: Date; browser: string },
): string {
  // One character too many is kept, so that the check still refuses the length.
  const typed = { username: username.slice(0, longestUsername + 1), password: password.slice(0, longestPassword + 1) };
  const id = randomBytes(16).toString("base64url");
  return sealed(deps).write({ ...typed, isShared, turnAt: turnAt.toISOString(), browser, id }, deps.clock());
}

/** Reads the login form or the field of the waiting page; null if that is too old, used or another browser's. */
async function takeTyped(request: PageRequest, browser: string): Promise<TypedSignIn | null> {
  const { deps } = request;
  const text = fieldOf(request, "waiting");
  if (text === "") {
    const [username, password] = [fieldOf(request, "username").trim(), fieldOf(request, "password")];
    return { username, password, isShared: fieldOf(request, "shared") !== "" };
  }
  const waiting = sealed(deps).read(text, deps.clock());
  if (waiting === null || browser === "" || waiting.browser !== browser) return null;
  const { username, password, isShared, turnAt, id } = waiting;
  // Single use: the bucket holds one token and refills after the field has expired.
  const key = makeKeyMaker(deps.secrets.waitingSignIn)("waiting sign-in", id);
  const used = await takeToken(deps.db.pool, { key, capacity: 1, refillSeconds: 2 * waitingSeconds }, deps.clock());
  return used === null ? { username, password, isShared, turnAt: new Date(turnAt) } : null;
}

const name = "_device";
const yearSeconds = 365 * 24 * 3600;

/** Reads the cookie of a browser that a person signed in with before. */
export const readDevice = (request: PageRequest): string | null => readCookie(request, name, { signed: false });

/** On a shared device no cookie outlives the browser. */
export const rememberDevice = (request: PageRequest, device: string, isShared: boolean): void =>
  setCookie(request, name, device, { signed: false, seconds: isShared ? undefined : yearSeconds });
