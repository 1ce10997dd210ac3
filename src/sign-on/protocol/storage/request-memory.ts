import type { App, SignOnRight, Subject } from "../../../access/index.ts";
import type { Decisions, Pair } from "../consent.ts";
import type { Key } from "./artifact.ts";
import type { Presented } from "./lookup.ts";

declare const answer: unique symbol;

/** What a request asks the database, with the type of the answer. */
export type Question<Answer> = string & { readonly [answer]: Answer };

/** The questions that a request asks more than once. Those about a person are asked again for another person. */
export const questions = {
  app: (clientId: string) => `app ${clientId}` as Question<App | null>,
  token: ({ kind, idHash }: Key) => `token ${kind} ${idHash.toString("base64url")}` as Question<Presented>,
  right: ({ clientId, personId }: Pair) => `right ${clientId} ${personId}` as Question<SignOnRight>,
  decisions: ({ clientId, personId }: Pair) => `decisions ${clientId} ${personId}` as Question<Decisions>,
  subject: ({ clientId, personId }: Pair) => `subject ${clientId} ${personId}` as Question<Subject | null>,
  /** Whether a refusal was written to the audit log. */
  refusal: ({ clientId, personId }: Pair) => `refusal ${clientId} ${personId}` as Question<void>,
};

/** The answers that a request has got. */
export type Memory = Map<string, Promise<unknown>>;

/** Asks the database once a request. */
export function once<Answer>(memory: Memory, question: Question<Answer>, ask: () => Promise<Answer>): Promise<Answer> {
  const asked = memory.get(question) as Promise<Answer> | undefined;
  if (asked) return asked;
  const asking = ask();
  memory.set(question, asking);
  return asking;
}

/** Keeps an answer that was read together with another one. */
export function remember<Answer>(memory: Memory, question: Question<Answer>, known: Answer): void {
  memory.set(question, Promise.resolve(known));
}
