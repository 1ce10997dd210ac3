import type { PersonId } from "../../directory/index.ts";
import { endSession, limitSessions } from "../protocol/logout/end-session.ts";
import {
  addReply,
  findReply,
  forgetSession,
  type Interaction,
  makeResumeRequest,
  startSession,
  storeReply,
} from "../protocol/provider/library.ts";
import { runRequest, startRequest } from "../protocol/storage/request.ts";
import {
  anyDevice,
  makeBinding,
  ownDevice,
  permittedDevice,
  secondsOfSession,
  sharedDevice,
  sharedUntil,
} from "../protocol/session.ts";
import { readLastSignIn, noteSignedOut } from "./last-sign-in.ts";
import {
  type PageRequest,
  providerContextOf,
  redirect,
  requestIdOf,
  sessionOf,
  setSessionCookie,
} from "./page-request.ts";
import { classListPath, hasPassword, hasSecondFactor, isUpstream, type PasskeyOffer } from "../../accounts/index.ts";
import { listCookie } from "./class-list/device.ts";
import { offerPasskey } from "./offered-passkey.ts";

/** Whether the person is asked to switch because the app hinted at another person. */
export const asksToSwitch = ({ prompt }: Interaction): boolean => prompt.reasons.includes("login_hint");

/**
 * Without `isShared` and `stays` the device is what it was at the sign-in before. `authTime`, in seconds since 1970:
 * when the person signed in at the login of their school; without it they did now.
 */
export type AuthenticatedPerson = {
  personId: PersonId;
  generation: number;
  cardId?: string;
  upstreamSessionId?: string | undefined;
  amr: readonly string[];
  authTime?: number | null | undefined;
  isShared?: boolean | undefined;
  /** Whether the person asks to stay signed in. */
  stays?: boolean | undefined;
  passkeyOffer?: PasskeyOffer | null | undefined;
  /** On the shared device of a class: until the session ends. */
  seconds?: number;
};

/** Signs a person in and redirects: every sign-in ends here. `to`: the waiting interaction, or a path of ours. */
export async function signIn(
  request: PageRequest,
  {
    personId,
    generation,
    cardId,
    upstreamSessionId,
    amr,
    authTime,
    isShared = readLastSignIn(request).isShared,
    stays = readLastSignIn(request).stays,
    passkeyOffer = null,
    seconds: ofLesson,
  }: AuthenticatedPerson,
  to: Interaction | string,
): Promise<void> {
  const { deps } = request;
  const standing = { generation, cardId: cardId ?? null, upstreamSessionId: upstreamSessionId ?? null };
  const now = Math.floor(Date.now() / 1000);
  // A card that somebody finds, and the login of a school, open nothing that lasts for days.
  const cookie = stays === true && hasPassword(amr) ? ownDevice : anyDevice;
  const acr = ofLesson ? sharedUntil(now + ofLesson) : isShared ? sharedDevice : cookie;
  const isOffered = !isShared && (passkeyOffer === "NOW" || (passkeyOffer === "CONFIRMED" && hasSecondFactor(amr)));
  const leadOn = (address: string) =>
    redirect(request, isOffered ? offerPasskey(request, { personId, generation }, address) : address);
  // The clock there may be ahead.
  const loginTs = Math.min(authTime ?? now, now);
  if (typeof to !== "string") {
    await leaveSession(request, { unlessOf: personId, interaction: to });
    const login = { accountId: personId, remember: false, amr: [...amr], ts: loginTs, acr };
    const hint = asksToSwitch(to) ? { hint: { answered: true } } : {};
    addReply(to, { login, ...hint }, standing);
    return isOffered ? leadOn(await storeReply(to)) : resume(request, to);
  }
  await leaveSession(request, { unlessOf: null, interaction: null });
  const rule = await limitSessions(deps.db, { personId, at: deps.clock() });
  const device = permittedDevice(acr, rule);
  const { sessionSeconds } = deps;
  const seconds = secondsOfSession({ acr: device, loginTs: now }, { sessionSeconds, rule, now });
  const browser = makeBinding(providerContextOf(request), device);
  const id = await startSession(deps.provider(), { personId, browser, amr, acr: device, loginTs, seconds, standing });
  setSessionCookie(request, id, device === ownDevice ? seconds : undefined);
  leadOn(to);
}

/** Lets the library continue in this request with an interaction that has its reply. */
export async function resume({ deps, req, res }: PageRequest, interaction: Interaction): Promise<void> {
  const answered = await findReply(interaction, deps.store);
  const cookiesOfForm = [res.getHeader("Set-Cookie") ?? []].flat().map(String);
  const back = makeResumeRequest(deps.provider(), req, interaction);
  await runRequest(startRequest({ answered, cookiesOfForm }), () => deps.answer(back, res));
}

/** Ends the session of the browser. The library itself would show a form that a script posts. */
export async function leaveSession(
  request: PageRequest,
  { unlessOf, interaction }: { unlessOf: PersonId | null; interaction: Interaction | null },
): Promise<void> {
  const { db, clock } = request.deps;
  const { accountId, uid } = await sessionOf(request);
  if (accountId === undefined || accountId === unlessOf) return;
  if (interaction !== null) await forgetSession(interaction);
  await endSession(db, { uid, at: clock(), requestId: requestIdOf(request) });
}

/**
 * Ends the session of this browser. Returns where the browser goes: on the device of a class to its list. A session
 * from the login of a school ends on the page there, whose form may lead to that login, too.
 */
export async function signOut(request: PageRequest): Promise<string> {
  const provider = request.deps.provider();
  const { amr } = await sessionOf(request);
  if (isUpstream(amr)) return provider.pathFor("end_session");
  await leaveSession(request, { unlessOf: null, interaction: null });
  noteSignedOut(request);
  if (listCookie.read(request) !== null) return classListPath;
  return provider.pathFor("end_session_success");
}
