import { createHmac, hash, randomBytes, randomInt } from "node:crypto";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { CardId } from "./cards.ts";
import type { CardSecondStep } from "./settings.ts";

export const cardPath = "/card";

/** Nobody guesses 144 bits, and a QR code of so few characters has large modules. */
const tokenBytes = 18;

/** The pictures of which each card has one; their names go into addresses of nothing. */
export const pictures = ["sun", "house", "tree", "fish", "star", "heart", "boat", "apple", "moon"] as const;
export type Picture = (typeof pictures)[number];

/**
 * A card whose secrets are known this one time.
 *
 * Shape: `url` stands in the QR code; `answer` is the PIN or the picture, null where the card asks for neither.
 */
export type MadeCard = {
  id: CardId;
  tokenHash: Buffer;
  url: string;
  secondStep: CardSecondStep;
  answer: string | null;
  secondStepHash: Buffer | null;
};

export type MakeCard = (given: { secondStep: CardSecondStep; now: Date }) => MadeCard;

/** Makes cards. Shape: `key` is a secret that all processes share. */
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

/** Keyed, because whoever has the table alone would try four digits in no time. */
export const hashAnswer = (key: Buffer, id: CardId, answer: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([id, answer]))
    .digest();

function drawAnswer(secondStep: CardSecondStep): string | null {
  if (secondStep === "NONE") return null;
  return secondStep === "PIN" ? String(randomInt(10_000)).padStart(4, "0") : pictures[randomInt(pictures.length)]!;
}
