import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";

/**
 * Makes what reads the address that a request comes from; `X-Forwarded-For` counts only as far as the trusted proxies
 * wrote it.
 */
export function makeReadAddress(trustedProxies: string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile(trustedProxies);
  return (req) => proxyAddr(req, isTrusted);
}
