import { hash } from "node:crypto";
import { AppError } from "../errors.ts";
import { readImage, type ImageType } from "./image.ts";

const mostPixels = 1024;
const mostBytes = 262_144;

/**
 * What is kept of a logo.
 *
 * Shape: `type` is what the bytes are, whatever the sender said; `hash` is of the bytes, 32 digits.
 */
export type Logo = { type: ImageType; hash: string; bytes: Uint8Array<ArrayBuffer> };

/**
 * Checks the bytes of a logo by what they are.
 *
 * Shape:  `called` names the types that are allowed, for the refusal.
 * Errors: invalid logo_refused for what is no image of these types, and for one that is too large.
 */
export function checkLogo(image: Buffer, { types, called }: { types: readonly ImageType[]; called: string }): Logo {
  const found = readImage(image);
  if (found === null || !types.includes(found.type)) throw refuseLogo(`is not a ${called} image`);
  if (image.length > mostBytes) throw refuseLogo("has more than 256 KB");
  if (found.width > mostPixels || found.height > mostPixels)
    throw refuseLogo(`has more than ${mostPixels} pixels on a side`);
  return { type: found.type, hash: hash("sha256", image).slice(0, 32), bytes: new Uint8Array(image) };
}

/** Shape: `reason` goes on from "It". */
export const refuseLogo = (reason: string): AppError =>
  new AppError("invalid", "logo_refused", `The logo was refused. It ${reason}.`);
