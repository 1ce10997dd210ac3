// Runs in a thread.
import { makePrintable } from "../../platform/images/printable-image.ts";
import { drawCards } from "./draw.ts";
import type { PrintJob } from "./layout.ts";

/** `logo` is the image as the school uploaded it. */
export type Print = { job: Omit<PrintJob, "logo">; logo: Uint8Array | null; now: Date };

export default ({ job, logo, now }: Print): Promise<Buffer> =>
  drawCards({ ...job, logo: logo && makePrintable(logo) }, now);
