import { PNG } from "pngjs";

/** A PNG image of one colour, half transparent where `alpha` is left out. */
export function makePng({ width = 8, height = 6, alpha = 128 } = {}): Buffer {
  const image = new PNG({ width, height });
  for (let at = 0; at < image.data.length; at += 4) image.data.set([200, 30, 60, alpha], at);
  return PNG.sync.write(image);
}

/** A JPEG image of 8 × 6 pixels. */
export const jpeg = Buffer.from(
  [
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H///",
    "/6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAAG",
    "AAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAYEAEAAwEAAAAAAAAAAAAAAAAABUOCwf/EABQBAQAAAAAAAAAAAAAAAAAAAA",
    "D/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCkHfnoAP/Z",
  ].join(""),
  "base64",
);
