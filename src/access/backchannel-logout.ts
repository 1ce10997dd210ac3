import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import { checkReceiver } from "../platform/outbound/receiver-address.ts";

/** An address that passed `checkBackchannelLogoutUri`; only these are kept. */
export type BackchannelLogoutUri = string & { readonly __backchannelLogoutUri: true };

/**
 * Checks the address where an app is notified of logouts, as the address of a webhook is checked. It looks up a name,
 * so it is called before the transaction that keeps the address.
 *
 * Errors: invalid for an address that the service must not call.
 */
export async function checkBackchannelLogoutUri(uri: string, policy: OutboundPolicy): Promise<BackchannelLogoutUri> {
  await checkReceiver(
    uri,
    policy,
    (why) => new AppError("invalid", "uri_refused", `The address for logouts was refused: ${why}.`),
  );
  return uri as BackchannelLogoutUri;
}
