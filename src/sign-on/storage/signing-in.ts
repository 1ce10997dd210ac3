import { AsyncLocalStorage } from "node:async_hooks";

/** A person whose password was right, and the generation of the credential that it was compared with. */
export type SigningIn = { personId: string; generation: number };

const current = new AsyncLocalStorage<SigningIn>();

/**
 * Stores what `work` stores under the generation that the password was compared with. The library cannot pass it on.
 *
 * Shape: void at once if a new password was set meanwhile.
 */
export function signingIn<T>({ personId, generation }: SigningIn, work: () => Promise<T>): Promise<T> {
  return current.run({ personId, generation }, work);
}

/** The generation under which the person is signing in right now; undefined where they are not. */
export function findGeneration(personId: string): number | undefined {
  const signIn = current.getStore();
  return signIn?.personId === personId ? signIn.generation : undefined;
}
