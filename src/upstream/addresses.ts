import type { ConnectionId } from "./ids.ts";

/** What is typed at the provider. */
export type ConnectionAddresses = { redirectUri: string; backchannelLogoutUri: string; postLogoutRedirectUri: string };

/** A redirect URI for each connection, so that one provider cannot send what another answered. */
export function addressesOf(issuerUrl: string, connectionId: ConnectionId): ConnectionAddresses {
  const base = `${issuerUrl.replace(/\/$/, "")}/upstream/${connectionId}`;
  return {
    redirectUri: `${base}/callback`,
    backchannelLogoutUri: `${base}/backchannel-logout`,
    postLogoutRedirectUri: `${base}/signed-out`,
  };
}
