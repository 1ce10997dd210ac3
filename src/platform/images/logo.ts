import { hash } from "node:crypto";
import { AppError } from "../errors.ts";
import { readImage, type ImageType } from "./image.ts";

const mostPixels = 1024;
const mostBytes = 262_144;

export type Logo = { type: ImageType; hash: string; bytes: Uint8Array<ArrayBuffer> };

export function checkLogo(image: Buffer, { types, called }: { types: readonly ImageType[]; called: string }): Logo {
  const found = readImage(image);
  if (found === null || !types.includes(found.type)) throw refuseLogo(`is not a ${called} image`);
  if (image.length > mostBytes) throw refuseLogo("has more than 256 KB");
  if (found.width > mostPixels || found.height > mostPixels)
    throw refuseLogo(`has more than ${mostPixels} pixels on a side`);
  return { type: found.type, hash: hash("sha256", image).slice(0, 32), bytes: new Uint8Array(image) };
}

export const refuseLogo = (reason: string): AppError =>
  new AppError("invalid", "logo_refused", `The logo was refused. It ${reason}.`);
