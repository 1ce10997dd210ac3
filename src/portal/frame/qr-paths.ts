// Runs in a thread.
import { drawQrPath, type QrPath } from "./qr-path.ts";

export default (urls: readonly string[]): QrPath[] => urls.map(drawQrPath);
