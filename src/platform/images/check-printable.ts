import { makePrintable } from "./printable-image.ts";

export default (image: Uint8Array): boolean => makePrintable(image) !== null;
