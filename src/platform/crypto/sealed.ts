import { seal, unseal } from "./seal.ts";

export type Sealed<Value> = {
  write(value: Value, now: Date): string;
  /** Null if it has expired or was sealed for another purpose. */
  read(text: string, now: Date): Value | null;
};

export function makeSealed<Value extends object>(key: Buffer, purpose: string, seconds: number): Sealed<Value> {
  return {
    write: (value, now) => {
      const kept = { value, until: now.getTime() + seconds * 1000 };
      return seal([key], purpose, Buffer.from(JSON.stringify(kept))).toString("base64url");
    },
    read: (text, now) => {
      const plain = unseal([key], purpose, Buffer.from(text, "base64url"));
      if (plain === null) return null;
      const { value, until } = JSON.parse(plain.toString()) as { value: Value; until: number };
      return now.getTime() < until ? value : null;
    },
  };
}
