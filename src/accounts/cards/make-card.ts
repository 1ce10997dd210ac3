import { hash, randomBytes, randomInt } from "node:crypto";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { CardId } from "./cards.ts";
import type { CardSecondStep } from "./settings.ts";
import { hmac } from "../../platform/crypto/seal.ts";

export const cardPath = "/card";

/** 144 bits cannot be guessed, and few characters give a QR code with large modules. */
const tokenBytes = 18;

export const pictures = ["sun", "house", "tree", "fish", "star", "heart", "boat", "apple", "moon"] as const;

/** A card with its secrets, which are known only now. `url` is in the QR code; `answer` is the PIN or picture. */
export type MadeCard = {
  id: CardId;
  tokenHash: Buffer;
  url: string;
  secondStep: CardSecondStep;
  answer: string | null;
  secondStepHash: Buffer | null;
};

export type MakeCard = (options: { secondStep: CardSecondStep; now: Date }) => MadeCard;

export const makeCardMaker =
  ({ issuerUrl, key }: { issuerUrl: string; key: Buffer }): MakeCard =>
  ({ secondStep, now }) => {
    const id = makeUuid(now) as CardId;
    const token = randomBytes(tokenBytes).toString("base64url");
    const answer = drawAnswer(secondStep);
    return {
      id,
      tokenHash: hashCardToken(token),
      url: `${issuerUrl.replace(/\/$/, "")}${cardPath}/${token}`,
      secondStep,
      answer,
      secondStepHash: answer === null ? null : hashAnswer(key, id, answer),
    };
  };

export const isCardToken = (text: string): boolean => /^[A-Za-z0-9_-]{24}$/.test(text);

export const hashCardToken = (token: string): Buffer => hash("sha256", token, "buffer");

/** Keyed, because four digits are quickly guessed by somebody who has the table alone. */
export const hashAnswer = (key: Buffer, id: CardId, answer: string): Buffer =>
  hmac(key)
    .update(JSON.stringify([id, answer]))
    .digest();

function drawAnswer(secondStep: CardSecondStep): string | null {
  if (secondStep === "NONE") return null;
  return secondStep === "PIN" ? String(randomInt(10_000)).padStart(4, "0") : pictures[randomInt(pictures.length)]!;
}
