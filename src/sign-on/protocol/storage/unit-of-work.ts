import type { NewNotice } from "../../../accounts/index.ts";
import type { Bucket } from "../../../platform/database/token-bucket.ts";
import type { Artifact, Key } from "./artifact.ts";
import type { SignIn, TokenUse } from "./use-token.ts";
import type { Logout, SessionChange, SessionFate, Write } from "./write.ts";

export type FoundToken = Key & {
  clientId: string;
  personId: string | null;
  grantId: string | null;
  scope: string | undefined;
  idTokenClaims: string[];
};

export type Reading = { readonly state: "reading" };

export type Changing = {
  readonly state: "changing";
  readonly puts: Map<string, Artifact>;
  readonly removals: Map<string, Key>;
  readonly notices: NewNotice[];
  session: SessionFate;
  logout: Logout | null;
};

/** The request uses up a token and issues others for it; nothing else is written with it. */
export type Consuming = {
  readonly state: "consuming";
  readonly token: FoundToken;
  readonly at: Date;
  readonly puts: Map<string, Artifact>;
  signIn: SignIn | null;
};

export type Committed = { readonly state: "committed" };

/**
 * What one request at the provider wants written: Reading → Changing → Committed, or Reading → Consuming → Committed.
 * One statement writes it before the response is sent, so a code is used up together with its tokens or not at all.
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

/** Replaces an end, because the library gives a session a new id by destroying and saving it. */
export function changeSession(work: Reading | Changing, sessionChange: SessionChange): Changing {
  const next = change(work);
  next.session = { kind: "changed", change: sessionChange };
  return next;
}

export function keepSession(work: Reading | Changing): Reading | Changing {
  if (work.state === "changing" && work.session.kind === "ended") work.session = { kind: "kept" };
  return work;
}

export function endSession(work: Reading | Changing, uid: string): Changing {
  const next = change(work);
  next.session = { kind: "ended", uid };
  return next;
}

export function notify(work: Reading | Changing, notice: NewNotice): Changing {
  const next = change(work);
  next.notices.push(notice);
  return next;
}

export function recordLogout(work: Changing, logout: Logout): Changing {
  work.logout = logout;
  return work;
}

export function consume(_work: Reading, token: FoundToken, at: Date): Consuming {
  return { state: "consuming", token, at, puts: new Map(), signIn: null };
}

export function recordSignIn(work: Consuming, signIn: SignIn): Consuming {
  work.signIn = signIn;
  return work;
}

/** The artifact of a request that only stores one; several such requests are written together. */
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
