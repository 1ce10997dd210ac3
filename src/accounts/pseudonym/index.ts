import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { firstWords, secondWords } from "./words.ts";
import { hmac } from "../../platform/crypto/hmac.ts";

/** Makes a name such as `Kiesel Otter` that never changes; without the key nobody can link it to person or app. */
export function makePseudonym(key: Buffer, { clientId, personId }: { clientId: ClientId; personId: PersonId }): string {
  const drawn = hmac(key).update(`${clientId}\0${personId}`).digest();
  // 48 bits each: no word is noticeably more frequent than another.
  const pick = (words: readonly string[], at: number) => words[drawn.readUIntBE(at, 6) % words.length]!;
  return `${pick(firstWords, 0)} ${pick(secondWords, 6)}`;
}
