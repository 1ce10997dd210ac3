import type { NewNotice } from "../../../accounts/index.ts";
import type { Bucket } from "../../../platform/database/token-bucket.ts";
import type { Artifact, Key } from "./artifact.ts";
import type { SignIn, TokenUse } from "./use-token.ts";
import type { Logout, SessionChange, SessionFate, Write } from "./write.ts";

/** A code, refresh token or access token that a request has found. */
export type FoundToken = Key & {
  clientId: string;
  personId: string | null;
  grantId: string | null;
  scope: string | undefined;
  /** The claims that the ID token was asked to carry. */
  idTokenClaims: string[];
};

/** Nothing is to be written yet. */
export type Reading = { readonly state: "reading" };

/** The request changes what is stored: artifacts come and go, its session changes or ends. */
export type Changing = {
  readonly state: "changing";
  readonly puts: Map<string, Artifact>;
  readonly removals: Map<string, Key>;
  readonly notices: NewNotice[];
  session: SessionFate;
  logout: Logout | null;
};

/** The request uses up a token and issues others for it. Nothing else is written with it. */
export type Consuming = {
  readonly state: "consuming";
  readonly token: FoundToken;
  readonly at: Date;
  readonly puts: Map<string, Artifact>;
  signIn: SignIn | null;
};

export type Committed = { readonly state: "committed" };

/**
 * What one request at the provider wants written.
 *
 * The library saves, consumes and destroys one by one. Here it is gathered and written at the end of the request, in
 * one statement, before the answer leaves. So a code is used up together with the tokens issued for it, or not at all.
 *
 * Shape: Reading → Changing → Committed, or Reading → Consuming → Committed. Each step takes the states that it
 *        may follow and answers the next one; a request that fails drops its unit of work.
 */
export type UnitOfWork = Reading | Changing | Consuming | Committed;

export const reading: Reading = { state: "reading" };
export const committed: Committed = { state: "committed" };

const startChanging = (): Changing => ({
  state: "changing",
  puts: new Map(),
  removals: new Map(),
  notices: [],
  session: { kind: "kept" },
  logout: null,
});

const change = (work: Reading | Changing): Changing => (work.state === "reading" ? startChanging() : work);
const keyOf = ({ kind, idHash }: Key): string => `${kind} ${idHash.toString("base64url")}`;

/** Stores an artifact: for the token that is used up where there is one. */
export function put(work: Reading | Changing | Consuming, artifact: Artifact): Changing | Consuming {
  const next = work.state === "consuming" ? work : change(work);
  next.puts.set(keyOf(artifact), artifact);
  return next;
}

export function remove(work: Reading | Changing, key: Key): Changing {
  const next = change(work);
  next.removals.set(keyOf(key), key);
  return next;
}

/** Changes the session. A change replaces an end: the library destroys and saves a session to give it a new id. */
export function changeSession(work: Reading | Changing, sessionChange: SessionChange): Changing {
  const next = change(work);
  next.session = { kind: "changed", change: sessionChange };
  return next;
}

/** Saves a session that is stored already as it is. */
export function keepSession(work: Reading | Changing): Reading | Changing {
  if (work.state === "changing" && work.session.kind === "ended") work.session = { kind: "kept" };
  return work;
}

export function endSession(work: Reading | Changing, uid: string): Changing {
  const next = change(work);
  next.session = { kind: "ended", uid };
  return next;
}

/** Has an app notified that the session has ended. */
export function notify(work: Reading | Changing, notice: NewNotice): Changing {
  const next = change(work);
  next.notices.push(notice);
  return next;
}

/** Records the end of the session in the audit log. */
export function recordLogout(work: Changing, logout: Logout): Changing {
  work.logout = logout;
  return work;
}

/** Uses a token up. */
export function consume(_work: Reading, token: FoundToken, at: Date): Consuming {
  return { state: "consuming", token, at, puts: new Map(), signIn: null };
}

/** Records that a person has signed in to the app by the code that is used up. */
export function recordSignIn(work: Consuming, signIn: SignIn): Consuming {
  work.signIn = signIn;
  return work;
}

/**
 * The artifact of a request that stores one and does nothing else: those of several requests can be written together.
 */
export function findOnlyPut({ puts, removals, notices, session, logout }: Changing): Artifact | null {
  const [artifact] = puts.values();
  const isOnly = puts.size === 1 && removals.size === 0 && notices.length === 0;
  return artifact && isOnly && session.kind === "kept" && logout === null ? artifact : null;
}

export const toWrite = (
  { puts, removals, session, notices, logout }: Changing,
  returned: readonly Bucket[] = [],
): Write => ({
  puts: [...puts.values()],
  removals: [...removals.values()],
  session,
  notices,
  logout,
  returned,
});

export const toTokenUse = ({ token, at, puts, signIn }: Consuming, replay: Buffer | null): TokenUse => ({
  kind: token.kind,
  idHash: token.idHash,
  at,
  replay,
  puts: [...puts.values()],
  signIn,
});
