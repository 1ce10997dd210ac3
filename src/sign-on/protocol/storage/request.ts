import type { NewNotice, SessionRule } from "../../../accounts/index.ts";
import type { Bucket } from "../../../platform/database/token-bucket.ts";
import type { Artifact, Key } from "./artifact.ts";
import type { SignIn, TokenUse, Logout, SessionFate, Write } from "./write.ts";
import type { App, SignOnRight, Subject } from "../../../access/index.ts";
import type { Decisions, Pair } from "../consent.ts";
import type { AnsweredInteraction, Presented } from "./lookup.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import type { SchoolId } from "../../../directory/index.ts";

export type FoundToken = Key & {
  clientId: string;
  personId: string | null;
  grantId: string | null;
  scope: string | undefined;
  idTokenClaims: string[];
};

type ReadOnly = { readonly state: "reading" };

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
export type UnitOfWork = ReadOnly | Changing | Consuming | Committed;

const reading: ReadOnly = { state: "reading" };
export const committed: Committed = { state: "committed" };

const keyOf = ({ kind, idHash }: Key): string => `${kind} ${idHash.toString("base64url")}`;

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

declare const answer: unique symbol;

type Question<Answer> = string & { readonly [answer]: Answer };

/** Questions that a request asks several times. */
export const questions = {
  app: (clientId: string) => `app ${clientId}` as Question<App | null>,
  token: ({ kind, idHash }: Key) => `token ${kind} ${idHash.toString("base64url")}` as Question<Presented>,
  right: ({ clientId, personId }: Pair) => `right ${clientId} ${personId}` as Question<SignOnRight>,
  decisions: ({ clientId, personId }: Pair) => `decisions ${clientId} ${personId}` as Question<Decisions>,
  subject: ({ clientId, personId }: Pair) => `subject ${clientId} ${personId}` as Question<Subject | null>,
  ownId: ({ clientId, personId }: Pair) => `own id ${clientId} ${personId}` as Question<string | null>,
  refusal: ({ clientId, personId }: Pair) => `refusal ${clientId} ${personId}` as Question<void>,
};

type Memory = Map<string, Promise<unknown>>;

export function readOnce<Answer>(
  memory: Memory,
  question: Question<Answer>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer = memory.get(question) as Promise<Answer> | undefined;
  if (answer) return answer;
  const asking = ask();
  memory.set(question, asking);
  return asking;
}

/** Stores a result that was read together with another. */
export function remember<Answer>(memory: Memory, question: Question<Answer>, known: Answer): void {
  memory.set(question, Promise.resolve(known));
}

type FoundSession = Pick<Artifact, "idHash" | "payload" | "expiresAt"> & {
  uid: string;
  personId: string | null;
};

export type FoundCode = {
  clientId?: string | undefined;
  redirectUri?: string | undefined;
  codeChallenge?: string | undefined;
};

/** What a sign-in is based on: the credential's generation, and the card or the upstream session if there was one. */
export type Standing = { generation: number; cardId: string | null; upstreamSessionId: string | null };

export type ProviderRequest = {
  readonly isAtTokenEndpoint: boolean;
  /** The reply of a form that continues in the same request; null in other requests. */
  readonly answered: AnsweredInteraction | null;
  /** The cookies that the form has set. */
  readonly cookiesOfForm: readonly string[];
  readonly memory: Memory;
  readonly tokens: FoundToken[];
  code: FoundCode | null;
  session: FoundSession | null;
  readonly standings: Map<string, Standing>;
  /** By person. */
  readonly sessionRules: Map<string, SessionRule | null>;
  /** The uids of the person's oldest sessions beyond the limit. */
  surplusSessions: readonly string[];
  typedHint: string;
  /** The school of the person in our own hint. */
  hintedSchoolId: SchoolId | null;
  work: UnitOfWork;
};

type Begun = Partial<Pick<ProviderRequest, "isAtTokenEndpoint" | "answered" | "cookiesOfForm">>;

export const startRequest = (begun: Begun = {}): ProviderRequest => ({
  isAtTokenEndpoint: false,
  answered: null,
  cookiesOfForm: [],
  memory: new Map(),
  tokens: [],
  code: null,
  session: null,
  standings: new Map(),
  sessionRules: new Map(),
  surplusSessions: [],
  typedHint: "",
  hintedSchoolId: null,
  work: reading,
  ...begun,
});

// The library passes nothing on to adapters and callbacks, and its own `Provider.ctx` ends before the commit.
const running = new AsyncLocalStorage<ProviderRequest>();

export const runRequest = (request: ProviderRequest, work: () => Promise<void>): Promise<void> =>
  running.run(request, work);

/** Undefined outside the provider's routes. */
export const findRequest = (): ProviderRequest | undefined => running.getStore();

export function getRequest(): ProviderRequest {
  const request = findRequest();
  if (request === undefined) throw new Error("this happens in a request at the provider only");
  return request;
}

type StandingOfPerson = { personId: string | null; generation: number | null } & Omit<Standing, "generation">;

/** Records what a sign-in is based on: of two generations the earlier, and the card or upstream session of either. */
export function noteStanding({ standings }: ProviderRequest, lookup: StandingOfPerson): void {
  const { personId, generation, cardId, upstreamSessionId } = lookup;
  if (personId === null || generation === null) return;
  const before = standings.get(personId);
  standings.set(personId, {
    generation: Math.min(generation, before?.generation ?? generation),
    cardId: cardId ?? before?.cardId ?? null,
    upstreamSessionId: upstreamSessionId ?? before?.upstreamSessionId ?? null,
  });
}

/** How long sessions of a person may last, once one or an interaction of theirs was read. */
export const sessionRuleFor = (personId: string | undefined): SessionRule | null =>
  (personId !== undefined && findRequest()?.sessionRules.get(personId)) || null;

// The library calls the adapter with ids alone, so the state is only known at run time; a wrong order is a bug.
function expectState<State extends UnitOfWork["state"]>(
  { work }: ProviderRequest,
  step: string,
  allowed: readonly State[],
): Extract<UnitOfWork, { state: State }> {
  if (!allowed.some((state) => state === work.state))
    throw new Error(`A request cannot ${step} in the state ${work.state}.`);
  return work as Extract<UnitOfWork, { state: State }>;
}

export const beforeChange = (request: ProviderRequest): ReadOnly | Changing =>
  expectState(request, "change what is stored", ["reading", "changing"]);

/** What the request changes, to add to. */
export function startChange(request: ProviderRequest): Changing {
  const work = beforeChange(request);
  if (work.state === "changing") return work;
  const [puts, removals] = [new Map<string, Artifact>(), new Map<string, Key>()];
  return (request.work = { state: "changing", puts, removals, notices: [], session: { kind: "kept" }, logout: null });
}

export function put(request: ProviderRequest, artifact: Artifact): void {
  const work = expectState(request, "store an artifact", ["reading", "changing", "consuming"]);
  const { puts } = work.state === "consuming" ? work : startChange(request);
  puts.set(keyOf(artifact), artifact);
}

export const remove = (request: ProviderRequest, key: Key): void =>
  void startChange(request).removals.set(keyOf(key), key);

export function consume(request: ProviderRequest, token: FoundToken, at: Date): void {
  expectState(request, "use a token up", ["reading"]);
  request.work = { state: "consuming", token, at, puts: new Map(), signIn: null };
}

export function recordSignIn(request: ProviderRequest, signIn: SignIn): void {
  expectState(request, "record a sign-in", ["consuming"]).signIn = signIn;
}
