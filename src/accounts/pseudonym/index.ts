import { createHmac } from "node:crypto";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { firstWords, secondWords } from "./words.ts";

/**
 * A friendly made-up name for a person at an app, such as `Kiesel Otter`.
 *
 * Shape: the same for the same person and app, for good; without the key nothing joins it to the person, to their id,
 *        or to their pseudonym at another app. Two people of an app can have the same one.
 */
export function makePseudonym(key: Buffer, { clientId, personId }: { clientId: ClientId; personId: PersonId }): string {
  const drawn = createHmac("sha256", key).update(`${clientId}\0${personId}`).digest();
  // 48 bits each: no word is noticeably more frequent than another.
  const pick = (words: readonly string[], at: number) => words[drawn.readUIntBE(at, 6) % words.length]!;
  return `${pick(firstWords, 0)} ${pick(secondWords, 6)}`;
}
