import { AsyncLocalStorage } from "node:async_hooks";
import type { SchoolId } from "../../../directory/index.ts";
import type { Artifact } from "./artifact.ts";
import type { Memory } from "./request-memory.ts";
import {
  type Changing,
  type Consuming,
  type FoundToken,
  reading,
  type Reading,
  type UnitOfWork,
} from "./unit-of-work.ts";

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
  readonly memory: Memory;
  readonly tokens: FoundToken[];
  code: FoundCode | null;
  session: FoundSession | null;
  readonly standings: Map<string, Standing>;
  /** The uids of the person's oldest sessions beyond the limit. */
  surplusSessions: readonly string[];
  typedHint: string;
  /** The school of the person in our own hint. */
  hintedSchoolId: SchoolId | null;
  work: UnitOfWork;
};

export const startRequest = (isAtTokenEndpoint = false): ProviderRequest => ({
  isAtTokenEndpoint,
  memory: new Map(),
  tokens: [],
  code: null,
  session: null,
  standings: new Map(),
  surplusSessions: [],
  typedHint: "",
  hintedSchoolId: null,
  work: reading,
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

type Found = { personId: string | null; generation: number | null } & Omit<Standing, "generation">;

/** Records what a sign-in is based on: of two generations the earlier, and the card or upstream session of either. */
export function noteStanding({ standings }: ProviderRequest, found: Found): void {
  const { personId, generation, cardId, upstreamSessionId } = found;
  if (personId === null || generation === null) return;
  const before = standings.get(personId);
  standings.set(personId, {
    generation: Math.min(generation, before?.generation ?? generation),
    cardId: cardId ?? before?.cardId ?? null,
    upstreamSessionId: upstreamSessionId ?? before?.upstreamSessionId ?? null,
  });
}

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

export const beforePut = (request: ProviderRequest): Reading | Changing | Consuming =>
  expectState(request, "store an artifact", ["reading", "changing", "consuming"]);
export const beforeChange = (request: ProviderRequest): Reading | Changing =>
  expectState(request, "change what is stored", ["reading", "changing"]);
export const beforeConsume = (request: ProviderRequest): Reading => expectState(request, "use a token up", ["reading"]);
export const whileConsuming = (request: ProviderRequest): Consuming =>
  expectState(request, "record a sign-in", ["consuming"]);
