import { limitThreaded } from "../../platform/threads/index.ts";
import type { QrPath } from "./qr-path.ts";

/** Draws the QR code of each text. */
export const drawQrPaths = limitThreaded<string[], QrPath[]>({
  module: new URL("./qr-path.ts", import.meta.url),
  seconds: 60,
});
