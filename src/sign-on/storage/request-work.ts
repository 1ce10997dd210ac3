import type { AdapterPayload } from "oidc-provider";
import type { Pair } from "../consent.ts";
import type { Artifact, Key } from "./artifact.ts";
import type { SignIn, TokenUse } from "./use-token.ts";
import type { SessionChange, Statement, Write } from "./write.ts";

/**
 * What one request at the provider has read and wants written.
 *
 * The library saves, consumes and destroys one by one; here it is gathered and written at the end of the request, in
 * one statement, before the answer leaves. So a code is used up together with the tokens it gave, or not at all.
 */
export type RequestWork = {
  puts: Map<string, Artifact>;
  removals: Map<string, { kind: string; idHash: Buffer }>;
  /** The code or refresh token that the request uses up. */
  consumption: (Pick<TokenUse, "kind" | "idHash" | "at"> & { id: string; grantId: string | null }) | null;
  signIn: SignIn | null;
  /** The session the request came with. */
  session: ({ uid: string; personId: string | null } & Pick<Artifact, "idHash" | "payload" | "expiresAt">) | null;
  sessionChange: SessionChange | null;
  sessionEnds: boolean;
  /** Found tokens by the grant they belong to. */
  found: Map<string, AdapterPayload>;
  /** What the app wrote as the user name of the person it asks for. */
  typedHint: string;
  /** Whom the request stands for by what it has found, and the generation of the credential that they signed in with. */
  generations: Map<string, number>;
  /** Facts to record with it. */
  facts: Statement[];
  /** Answers of the database that the request needs more than once. */
  memory: Map<string, Promise<unknown>>;
};

export function startRequestWork(): RequestWork {
  return {
    puts: new Map(),
    removals: new Map(),
    consumption: null,
    signIn: null,
    session: null,
    sessionChange: null,
    sessionEnds: false,
    found: new Map(),
    typedHint: "",
    generations: new Map(),
    facts: [],
    memory: new Map(),
  };
}

/** Asks once a request. */
export function once<T>(work: RequestWork, key: string, ask: () => Promise<T>): Promise<T> {
  const asked = work.memory.get(key) as Promise<T> | undefined;
  if (asked) return asked;
  const asking = ask();
  work.memory.set(key, asking);
  return asking;
}

/** Remembers by which generation a person was found; of two, the one that ended first. */
export function noteGeneration(
  { generations }: RequestWork,
  { personId, generation }: { personId: string | null; generation: number | null },
): void {
  if (personId === null || generation === null) return;
  generations.set(personId, Math.min(generation, generations.get(personId) ?? generation));
}

/** Keeps what was read together with something else, so that it is not asked for. */
export function remember(work: RequestWork, key: string, answer: unknown): void {
  work.memory.set(key, Promise.resolve(answer));
}

/** The keys of the memory; what is about a person is asked again for another one. */
export const memoryKeys = {
  app: (clientId: string) => `app ${clientId}`,
  token: ({ kind, idHash }: Key) => `token ${kind} ${idHash.toString("base64url")}`,
  right: ({ clientId, personId }: Pair) => `right ${clientId} ${personId}`,
  decisions: ({ clientId, personId }: Pair) => `decisions ${clientId} ${personId}`,
  subject: ({ clientId, personId }: Pair) => `subject ${clientId} ${personId}`,
};

/** What a request that uses a token up wants written; nothing else changes in it. */
export function toTokenUse(
  { puts, signIn }: RequestWork,
  { kind, idHash, at }: NonNullable<RequestWork["consumption"]>,
  replay: Buffer | null,
): TokenUse {
  return { kind, idHash, at, replay, puts: [...puts.values()], signIn };
}

/** What every other request wants written. */
export function toWrite({ puts, removals, session, sessionChange, sessionEnds, facts }: RequestWork): Write {
  return {
    puts: [...puts.values()],
    removals: [...removals.values()],
    endedSession: sessionEnds ? (session?.uid ?? null) : null,
    sessionChange,
    facts,
  };
}
