import jsQR from "jsqr";
import { expect, test } from "vitest";
import { drawQrPath, type QrPath } from "./qr-path.ts";

const address = (index: number) =>
  `https://login.example.org/card/${String(index).padStart(24, "AbCdEfGhIjKlMnOpQrSt")}`;

/** Reads what the pen leaves, as a scanner does, with a light edge around it. */
function read({ size, path }: QrPath): string | undefined {
  const [scale, edge] = [4, 4];
  const width = (size + 2 * edge) * scale;
  const picture = new Uint8ClampedArray(width * width * 4).fill(255);
  const put = (atX: number, atY: number) => {
    const [x, y] = [Math.round(atX), Math.round(atY)];
    for (let place = 0; place < scale * scale; place++) {
      const [left, top] = [(x + edge) * scale + (place % scale), (y + edge) * scale + Math.floor(place / scale)];
      picture.fill(0, (top * width + left) * 4, (top * width + left) * 4 + 3);
    }
  };
  let [x, y] = [0, 0];
  for (const [, command, first, second] of path.matchAll(/([mhv])(-?[\d.]+)(?: ?(-?[\d.]+))?/g)) {
    const [along, down] = command === "v" ? [0, Number(first)] : [Number(first), Number(second ?? 0)];
    const length = Math.round(Math.abs(along + down));
    for (let done = 1; command !== "m" && done <= length; done++)
      put(x + (along / length) * done, y + (down / length) * done);
    [x, y] = [x + along, y + down];
    put(x, y);
  }
  return jsQR.default(picture, width, width)?.data;
}

test("the strokes of a QR code are read as what it says", () => {
  for (let index = 0; index < 30; index++) expect(read(drawQrPath(address(index)))).toBe(address(index));
});

test("no stroke is without length, which a printed page would lack", () => {
  for (let index = 0; index < 30; index++) expect(drawQrPath(address(index)).path).not.toMatch(/[hv]-?0/);
});

test("no stroke turns back, where the pen would have no square end", () => {
  for (let index = 0; index < 30; index++)
    expect(drawQrPath(address(index)).path).not.toMatch(/h-\d+h\d|h\d+h-|v-\d+v\d|v\d+v-/);
});
