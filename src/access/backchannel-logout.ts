import { AppError } from "../platform/errors.ts";
import type { OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import { checkReceiver } from "../platform/outbound/receiver-address.ts";

/** A checked URI; the only kind that is stored. */
export type BackchannelLogoutUri = string & { readonly __backchannelLogoutUri: true };

/** Resolves the host name, so it must run before the transaction. Errors: invalid uri_refused. */
export async function checkBackchannelLogoutUri(uri: string, policy: OutboundPolicy): Promise<BackchannelLogoutUri> {
  await checkReceiver(
    uri,
    policy,
    (why) => new AppError("invalid", "uri_refused", `The address for logouts was refused: ${why}.`),
  );
  return uri as BackchannelLogoutUri;
}
