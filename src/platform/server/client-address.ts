import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";

export function makeReadAddress(trustedProxies: string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile(trustedProxies);
  return (req) => proxyAddr(req, isTrusted);
}
