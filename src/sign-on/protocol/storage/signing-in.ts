import { AsyncLocalStorage } from "node:async_hooks";

/**
 * A person whose password was right, and the generation of the credential that it was compared with; or whose card was
 * good, and which.
 */
export type SigningIn = { personId: string; generation: number; cardId?: string | null };

const current = new AsyncLocalStorage<SigningIn>();

/**
 * Stores what `work` stores under the generation and card that the person signs in with. The library cannot pass it on.
 *
 * Shape: void at once if a new password was set or the card was revoked meanwhile.
 */
export function signingIn<T>({ personId, generation, cardId = null }: SigningIn, work: () => Promise<T>): Promise<T> {
  return current.run({ personId, generation, cardId }, work);
}

/** What a sign-in stands on. */
export type Standing = { generation: number; cardId: string | null };

/** What the person is signing in with right now; undefined where they are not. */
export function findStanding(personId: string): Standing | undefined {
  const signIn = current.getStore();
  return signIn?.personId === personId ? { generation: signIn.generation, cardId: signIn.cardId ?? null } : undefined;
}
