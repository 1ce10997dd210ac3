import { inflateSync } from "node:zlib";
import { PNG } from "pngjs";
import { isFrame, readImage } from "./image.ts";

/** An opaque PNG or the JPEG itself; null if broken. A PNG that pdfkit decodes can end the process. */
export function makePrintable(image: Uint8Array): Buffer | null {
  const bytes = Buffer.from(image);
  const type = readImage(bytes)?.type;
  if (type === "image/jpeg") return isWholeJpeg(bytes) ? bytes : null;
  return type === "image/png" && isBoundedPng(bytes) ? flatten(bytes) : null;
}

/** Whether an image can be printed; runs in a thread. */
export default (image: Uint8Array): boolean => makePrintable(image) !== null;

function flatten(bytes: Buffer): Buffer | null {
  try {
    const backgroundColor = { red: 255, green: 255, blue: 255 };
    return PNG.sync.write(PNG.sync.read(bytes), { colorType: 2, inputHasAlpha: true, bgColor: backgroundColor });
  } catch {
    return null;
  }
}

const mostInflated = 1024 * (1024 * 8 + 8);

/** pngjs does not limit the size of interlaced images. */
function isBoundedPng(bytes: Buffer): boolean {
  const data: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    if (end + 4 > bytes.length || (name === "IHDR" && at !== 8)) return false;
    if (name === "IDAT") data.push(bytes.subarray(at + 8, end));
    at = end + 4;
  }
  try {
    return inflateSync(Buffer.concat(data), { maxOutputLength: mostInflated }).length > 0;
  } catch {
    return false;
  }
}

function isWholeJpeg(bytes: Buffer): boolean {
  let hasFrame = false;
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!;
    // A scan may be followed by more.
    if (marker === 0xda) return hasFrame && bytes.lastIndexOf(endOfJpeg) > at;
    if (isFrame(marker)) {
      if (bytes[at + 4] !== 8 || ![1, 3, 4].includes(bytes[at + 9] ?? 0)) return false;
      hasFrame = true;
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return false;
}

const endOfJpeg = Buffer.from([0xff, 0xd9]);
