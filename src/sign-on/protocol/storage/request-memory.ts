import type { App, SignOnRight, Subject } from "../../../access/index.ts";
import type { Decisions, Pair } from "../consent.ts";
import type { Key } from "./artifact.ts";
import type { Presented } from "./lookup.ts";

declare const answer: unique symbol;

/** A question to the database, with the type of its result. */
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

export type Memory = Map<string, Promise<unknown>>;

export function once<Answer>(memory: Memory, question: Question<Answer>, ask: () => Promise<Answer>): Promise<Answer> {
  const asked = memory.get(question) as Promise<Answer> | undefined;
  if (asked) return asked;
  const asking = ask();
  memory.set(question, asking);
  return asking;
}

/** Stores a result that was read together with another. */
export function remember<Answer>(memory: Memory, question: Question<Answer>, known: Answer): void {
  memory.set(question, Promise.resolve(known));
}
