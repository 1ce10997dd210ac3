import { setImmediate } from "node:timers/promises";
import type { PersonId } from "../directory/index.ts";
import type { MadeCard } from "./cards/make-card.ts";
import { hashInTurn, makePassword } from "./login/index.ts";
import type { PasswordKind } from "./sign-in-settings.ts";

/** What is prepared for a person; not valid yet. */
export type Prepared = { password: string | null; passwordHash: string | null; card: MadeCard | null };

/** Null for what is not wanted. */
export type Preparing = { passwordKind: PasswordKind | null; makeCard: (() => MadeCard) | null };

export async function prepareSecrets(
  { passwordKind, makeCard }: Preparing,
  hash: (password: string) => Promise<string>,
): Promise<Prepared> {
  const password = passwordKind && makePassword(passwordKind);
  return { password, passwordHash: password && (await hash(password)), card: makeCard && makeCard() };
}

/** Per request, so that several requests take turns. */
const hashesAtOnce = 2;

export async function prepareForPeople(
  people: readonly PersonId[],
  preparing: Preparing,
): Promise<ReadonlyMap<PersonId, Prepared>> {
  const made = new Map<PersonId, Prepared>();
  const left = people.values();
  const work = async () => {
    for (const personId of left) {
      made.set(personId, await prepareSecrets(preparing, hashInTurn));
      await setImmediate();
    }
  };
  await Promise.all(Array.from({ length: hashesAtOnce }, work));
  return made;
}
