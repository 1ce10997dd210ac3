import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { Tools } from "./command.ts";

/** Which addresses of apps the service may call, by its configuration. Each connection of the service checks again. */
export const policyOf = ({ config }: Pick<Tools, "config">): OutboundPolicy => ({
  allowPrivateAddresses: config.allowPrivateAddresses,
  allowHttp: !config.production,
});

const hint =
  "To use an address of your own machine or network in development, set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true for " +
  "this command and for the service.";

/** Adds to the refusal of an address which variable allows private ones. */
export async function withPolicyHint<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || !error.message.includes("not public")) throw error;
    throw new AppError("invalid", error.code, `${error.message.replace(/\.?$/, ".")} ${hint}`);
  }
}
