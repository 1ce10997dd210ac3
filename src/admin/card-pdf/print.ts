// Runs in a thread.
import { makePrintable } from "../../platform/images/printable-image.ts";
import { drawCards } from "./draw.ts";
import type { PrintJob } from "./layout.ts";

/** Shape: the logo is as the school gave it. */
export type Print = { job: Omit<PrintJob, "logo">; logo: Uint8Array | null; now: Date };

export default ({ job, logo, now }: Print): Promise<Buffer> =>
  drawCards({ ...job, logo: logo && makePrintable(logo) }, now);
