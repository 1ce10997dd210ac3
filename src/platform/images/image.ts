import { hash } from "node:crypto";
import { AppError } from "../errors.ts";

export type ImageType = "image/png" | "image/jpeg" | "image/webp";
type ImageHead = { type: ImageType; width: number; height: number };

/** Source: PNG (third edition) 5.2 and 11.2.1, JPEG (ITU-T T.81) annex B, WebP (RFC 9649) section 2. */
export function readImage(bytes: Buffer): ImageHead | null {
  const head = readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
  return head !== null && head.width > 0 && head.height > 0 ? head : null;
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readPng(bytes: Buffer): ImageHead | null {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(pngSignature)) return null;
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString("latin1", 12, 16) !== "IHDR") return null;
  return { type: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

export const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpeg(bytes: Buffer): ImageHead | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!;
    if (marker === 0xff) at += 1;
    else if (isFrame(marker))
      return { type: "image/jpeg", height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function readWebp(bytes: Buffer): ImageHead | null {
  const text = (from: number, to: number) => bytes.toString("latin1", from, to);
  if (bytes.length < 30 || text(0, 4) !== "RIFF" || text(8, 12) !== "WEBP") return null;
  const type = "image/webp";
  const chunk = text(12, 16);
  if (chunk === "VP8X") return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (chunk === "VP8L") {
    if (bytes[20] !== 0x2f) return null;
    const bits = bytes.readUInt32LE(21);
    return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (chunk !== "VP8 " || bytes.readUIntBE(23, 3) !== 0x9d012a) return null;
  return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

const mostPixels = 1024;
const mostBytes = 262_144;

export type Logo = { type: ImageType; hash: string; bytes: Uint8Array<ArrayBuffer> };

export function checkLogo(image: Buffer, { types, called }: { types: readonly ImageType[]; called: string }): Logo {
  const head = readImage(image);
  if (head === null || !types.includes(head.type)) throw refuseLogo(`is not a ${called} image`);
  if (image.length > mostBytes) throw refuseLogo("has more than 256 KB");
  if (head.width > mostPixels || head.height > mostPixels)
    throw refuseLogo(`has more than ${mostPixels} pixels on a side`);
  return { type: head.type, hash: hash("sha256", image).slice(0, 32), bytes: new Uint8Array(image) };
}

export const refuseLogo = (reason: string): AppError =>
  new AppError("invalid", "logo_refused", `The logo was refused. It ${reason}.`);
