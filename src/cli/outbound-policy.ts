import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import type { Machine } from "./command.ts";

/** Which addresses of apps the service may call, by its configuration. Each connection of the service checks again. */
export const policyOf = ({ config }: Pick<Machine, "config">): OutboundPolicy => ({
  allowPrivateAddresses: config.allowPrivateAddresses,
  allowHttp: !config.production,
});

const hint =
  "To use an address of your own machine or network in development, set WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true for " +
  "this command and for the service.";

/** Adds to the refusal of an address which variable allows private ones. */
export const addPolicyHint = (refusal: AppError): AppError =>
  refusal.message.includes("not public")
    ? new AppError("invalid", refusal.code, `${refusal.message.replace(/\.?$/, ".")} ${hint}`)
    : refusal;
