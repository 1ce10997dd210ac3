import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";

/** Reads a request's address; `X-Forwarded-For` counts as far as trusted proxies wrote it. */
export function makeReadAddress(trustedProxies: string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile(trustedProxies);
  return (req) => proxyAddr(req, isTrusted);
}
