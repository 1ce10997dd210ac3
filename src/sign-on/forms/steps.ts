import { randomBytes } from "node:crypto";
import {
  askForAnyPasskey,
  changePassword,
  checkPasskeySignIn,
  findPasswordRule,
  hasSecondFactors,
  longestPassword,
  longestTurnSeconds,
  makeKeyMaker,
  passwordAlone,
  passwordAnd,
  type PasswordCheck,
  type SecondMethod,
} from "../../accounts/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { makeSealed } from "../../platform/crypto/seal.ts";
import { singleUse, takeToken } from "../../platform/database/token-bucket.ts";
import type { Page } from "../../platform/pages/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import type { AuthenticatedPerson } from "./complete-sign-in.ts";
import { wasOffered } from "./offered-passkey.ts";
import {
  describeBrowser,
  forgetLastPerson,
  type DeviceChoice,
  keepLastSignIn,
  readDeviceChoice,
  readKnownBrowser,
  type TypedLogin,
} from "./last-sign-in.ts";
import {
  addressWith,
  fieldOf,
  formTargetsOf,
  type PageRequest,
  readCookie,
  redirect,
  requestIdOf,
  schoolSearchPath,
  sendPage,
  setCookie,
} from "./page-request.ts";
import {
  type LeavingContext,
  type LoginModel,
  type NewPasswordModel,
  renderLoginPage,
  renderNewPasswordPage,
  renderWaitingPage,
  type Steps,
  type WaitingModel,
} from "./pages/index.ts";

/** A sign-on that waits for a person: to an app, or to the platform itself. Both have the steps of this file. */
export type SignOn = PageRequest & {
  /** Null for the platform itself. */
  app: { name: string; logoPath: string | null } | null;
  /** Identifies the browser; empty without its cookie. */
  browser: string;
  /** The page of the login form, the one that shows all ways to sign in, and where the school's own logins begin. */
  addresses: { login: string; other: string; upstream: string };
  /** The user name that the app sent, and the school of the person in a hint of this service. */
  hint: { username: string; schoolId: SchoolId | null };
  context: LeavingContext;
  stepsOf(step: "login" | "new-password"): Steps;
  /** Why the person may not sign in; also null where the library asks for that later. */
  findRefusal(personId: PersonId): Promise<"refused" | "blocked" | null>;
  /** Asks for the second factor of a person who has to choose a password after it. */
  askSecondFactor(person: CheckedPerson): Promise<void>;
  /** Answers a form that is too old or another browser's. */
  startAgain(): void | Promise<void>;
  /** Signs the person in, after all that is asked of them. */
  finish(person: AuthenticatedPerson): Promise<void>;
};

export async function logIn(signOn: SignOn): Promise<void> {
  // The form may ask to forget the person whom the login page greets.
  if (fieldOf(signOn, "forget") !== "") {
    forgetLastPerson(signOn);
    return redirect(signOn, signOn.addresses.login);
  }
  if (fieldOf(signOn, "passkey") !== "") return logInWithPasskey(signOn);
  const login = await checkLogin(signOn);
  if (login.kind === "busy") return sendPage(signOn, renderWaiting(signOn, login));
  if (login.kind === "problem") return sendPage(signOn, await renderLogin(signOn, login.problem, login.typed));
  const { check, isShared, stays } = login;
  const { personId, generation } = check;
  const refusal = await signOn.findRefusal(personId);
  if (refusal !== null) return sendPage(signOn, await renderLogin(signOn, { kind: refusal }));
  rememberDevice(signOn, check.device, isShared);
  keepLastSignIn(signOn, { ...check, isShared, stays });
  const { passkeyOffer } = check;
  if (!check.mustChange)
    return signOn.finish({ personId, generation, amr: passwordAlone, isShared, stays, passkeyOffer });
  // The second factor comes first, so that a stolen password alone cannot lock out its owner.
  if (await hasSecondFactors(signOn.deps.db, personId)) return signOn.askSecondFactor({ personId, generation });
  await askNewPassword(signOn, { personId, generation });
}

/** Like a card, it never asks for a new password, even if one is due. */
async function logInWithPasskey(signOn: SignOn): Promise<void> {
  const answer = { response: fieldOf(signOn, "passkey"), state: fieldOf(signOn, "state") };
  const use = { answer, form: fieldOf(signOn, "csrf"), address: signOn.req.ip ?? "", requestId: requestIdOf(signOn) };
  const check = await checkPasskeySignIn(signOn.deps, use);
  if (check.kind !== "ok") return sendPage(signOn, await renderLogin(signOn, check));
  const { personId, generation, homeSchoolId, amr } = check;
  const refusal = await signOn.findRefusal(personId);
  if (refusal !== null) return sendPage(signOn, await renderLogin(signOn, { kind: refusal }));
  const device = readDeviceChoice(signOn);
  keepLastSignIn(signOn, { personId, homeSchoolId, ...device });
  await signOn.finish({ personId, generation, amr, ...device });
}

/** Asks a person whose password was right for one of their own, before they get a session. */
export const askNewPassword = (signOn: SignOn, person: CheckedPerson): Promise<void> =>
  showNewPassword(signOn, { personId: person.personId, pending: sealPending(signOn, person), problem: null });

export async function chooseNewPassword(signOn: SignOn): Promise<void> {
  const { db, clock } = signOn.deps;
  const person = readPending(signOn);
  if (person === null) return signOn.startAgain();
  const { personId, generation, method } = person;
  if (method === undefined && (await hasSecondFactors(db, personId))) return signOn.startAgain();
  const [password, repeated] = [fieldOf(signOn, "password"), fieldOf(signOn, "repeated")];
  const origin = { at: clock(), requestId: requestIdOf(signOn) };
  const result = await changePassword(db, { personId, generation, password, repeated }, origin);
  if (result.kind === "outdated") return signOn.startAgain();
  if (result.kind === "fault") {
    return showNewPassword(signOn, { personId, pending: fieldOf(signOn, "pending"), problem: { kind: result.fault } });
  }
  await signOn.finish({ personId, generation: result.generation, amr: passwordAnd(method) });
}

async function showNewPassword(
  signOn: SignOn,
  { personId, ...pageModel }: Pick<NewPasswordModel, "pending" | "problem"> & { personId: PersonId },
): Promise<void> {
  const { shortest } = await findPasswordRule(signOn.deps.db, personId, signOn.deps.clock());
  const { action, csrf } = signOn.stepsOf("new-password");
  const model = { ...pageModel, shortest, action, csrf, asksCurrent: false, back: null };
  sendPage(signOn, renderNewPasswordPage(model, signOn.context));
}

type LoginProblem = LoginModel["problem"];

export async function renderLogin(signOn: SignOn, problem: LoginProblem, typed?: TypedLogin): Promise<Page> {
  const { app, hint, context } = signOn;
  const { login, ...ways } = signOn.addresses;
  // The page offers the own login of a school that does not use the password that was typed.
  const schoolOfPassword = problem?.kind === "not_used" ? problem.homeSchoolId : null;
  const known = await readKnownBrowser(signOn, schoolOfPassword ?? hint.schoolId);
  const hinted = hint.username === "" ? undefined : { ...known, username: hint.username };
  const { mayUsePasskeys, ...model } = describeBrowser(signOn, known, { typed: typed ?? hinted, ...ways, problem });
  const schoolSearch = addressWith(schoolSearchPath, login);
  const steps = signOn.stepsOf("login");
  const passkey = mayUsePasskeys ? askForAnyPasskey(signOn.deps, steps.csrf) : null;
  const page = { app, steps, passkey, problem, schoolSearch, ...model };
  // The buttons of a school's own logins lead to them.
  const leaves = model.ways !== null && context.formTargets.length === 0;
  return renderLoginPage(page, leaves ? { ...context, formTargets: formTargetsOf(signOn.deps) } : context);
}

/** Counts down to the turn of a person whose password could not be checked at once, and continues then. */
function renderWaiting(signOn: SignOn, { waiting, retryAfterSeconds }: WaitingLogin): Page {
  const model = { app: signOn.app, steps: signOn.stepsOf("login"), waiting, retryAfterSeconds };
  return renderWaitingPage(model, { ...signOn.context, languageUrl: null });
}

/** The fields of the login form, sealed until the person's turn. */
type WaitingLogin = Pick<WaitingModel, "waiting" | "retryAfterSeconds">;

type CheckedLogin =
  | ({ kind: "ok"; check: Extract<PasswordCheck, { kind: "ok" }> } & DeviceChoice)
  | ({ kind: "busy" } & WaitingLogin)
  | { kind: "problem"; problem: LoginProblem; typed?: TypedSignIn };

async function checkLogin(signOn: SignOn): Promise<CheckedLogin> {
  const { deps, req, browser } = signOn;
  const typed = await takeTyped(signOn, browser);
  if (typed === null) return { kind: "problem", problem: { kind: "expired_form" } };
  const { isShared, stays, ...login } = typed;
  const missing = (["username", "password"] as const).filter((name) => login[name] === "");
  if (missing.length > 0) return { kind: "problem", problem: { kind: "missing", fields: missing }, typed };
  const device = readDevice(signOn);
  const hasPasskeys = fieldOf(signOn, "passkeys") !== "" && !isShared && !wasOffered(signOn);
  const check = await deps.checkPassword({ ...login, address: req.ip ?? "", device, hasPasskeys, now: deps.clock() });
  if (check.kind === "ok") return { kind: "ok", check, isShared, stays };
  if (check.kind !== "busy") return { kind: "problem", problem: check, typed };
  const { turnAt, retryAfterSeconds } = check;
  return { kind: "busy", waiting: sealWaiting(deps, typed, { turnAt, browser }), retryAfterSeconds };
}

/** The fields of a login form; with `turnAt` if the person was told to come again then. */
type TypedSignIn = TypedLogin & { password: string; turnAt?: Date };

type Waiting = TypedLogin & { password: string; turnAt: string; browser: string; id: string };

const longestUsername = 256;

/** A browser may be asleep for a while when its turn comes. */
const sleepSeconds = 120;
const waitingSeconds = longestTurnSeconds + sleepSeconds;
const sealedWaiting = ({ secrets }: InteractionDeps) =>
  makeSealed<Waiting>(secrets.waitingSignIn, "waiting sign-in", waitingSeconds);

/** Makes the field of the waiting page: only the service can read it, once, from the same browser. */
function sealWaiting(
  deps: InteractionDeps,
  { username, password, isShared, stays }: TypedSignIn,
  { turnAt, browser }: { turnAt: Date; browser: string },
): string {
  // One character too many is kept, so that the check still refuses the length.
  const typed = { username: username.slice(0, longestUsername + 1), password: password.slice(0, longestPassword + 1) };
  const id = randomBytes(16).toString("base64url");
  return sealedWaiting(deps).write(
    { ...typed, isShared, stays, turnAt: turnAt.toISOString(), browser, id },
    deps.clock(),
  );
}

/** Reads the login form or the field of the waiting page; null if that is too old, used or another browser's. */
async function takeTyped(request: PageRequest, browser: string): Promise<TypedSignIn | null> {
  const { deps } = request;
  const text = fieldOf(request, "waiting");
  if (text === "") {
    const [username, password] = [fieldOf(request, "username").trim(), fieldOf(request, "password")];
    return { username, password, ...readDeviceChoice(request) };
  }
  const waiting = sealedWaiting(deps).read(text, deps.clock());
  if (waiting === null || browser === "" || waiting.browser !== browser) return null;
  const { username, password, isShared, stays, turnAt, id } = waiting;
  const key = makeKeyMaker(deps.secrets.waitingSignIn)("waiting sign-in", id);
  const used = await takeToken(deps.db.pool, singleUse(key, waitingSeconds), deps.clock());
  return used === null ? { username, password, isShared, stays, turnAt: new Date(turnAt) } : null;
}

const name = "_device";
const yearSeconds = 365 * 24 * 3600;

/** Reads the cookie of a browser that a person signed in with before. */
export const readDevice = (request: PageRequest): string | null => readCookie(request, name, { signed: false });

/** On a shared device no cookie outlives the browser. */
const rememberDevice = (request: PageRequest, device: string, isShared: boolean): void =>
  setCookie(request, name, device, { signed: false, seconds: isShared ? undefined : yearSeconds });

/** A person without a session, whose password was right and must be replaced; after `method` if they have one. */
type CheckedPerson = { personId: PersonId; generation: number; method?: SecondMethod };

const pendingSeconds = 1_200;

const sealedPending = ({ secrets }: InteractionDeps) =>
  makeSealed<CheckedPerson & { browser: string }>(secrets.newPassword, "new password", pendingSeconds);

/** Makes the field by which nobody else can choose the password. */
export function sealPending({ deps, browser }: SignOn, { personId, generation, method }: CheckedPerson): string {
  const pending = { personId, generation, browser, ...(method && { method }) };
  return sealedPending(deps).write(pending, deps.clock());
}

/** Reads that field; null if it is too old or another browser's. */
export function readPending(signOn: SignOn): CheckedPerson | null {
  const { deps, browser } = signOn;
  const text = fieldOf(signOn, "pending");
  const pending = text === "" ? null : sealedPending(deps).read(text, deps.clock());
  return pending === null || browser === "" || pending.browser !== browser ? null : pending;
}
