import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import proxyAddr from "proxy-addr";

const spellings = [/^\[(.+)\](?::(?:\d{0,5}|_[\w.-]+))?$/, /^(.+)$/, /^(.+):(?:\d{0,5}|_[\w.-]+)$/];

/**
 * Reads an address as sockets and proxies write it: with quotes, brackets, a zone or a port.
 *
 * Returns null for anything else. IPv4 in IPv6 form becomes IPv4.
 * Source: RFC 7239 section 6.
 */
export function readAddress(text: string): string | null {
  const bare = text.trim().replace(/^"(.*)"$/, "$1");
  for (const spelling of spellings) {
    const address = spelling.exec(bare)?.[1]?.replace(/%.*$/, "") ?? "";
    // isIP, because ipaddr.js also reads old spellings such as 0x7f.1.
    if (isIP(address) !== 0) return ipaddr.process(address).toString();
  }
  return null;
}

/**
 * Finds the client behind trusted proxies.
 *
 * If a proxy forwards something that is no address, the proxy itself is the client, so that limits still apply.
 */
export function makeReadAddress(trustedProxies: string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile(trustedProxies);
  return (req) => {
    const [socket, ...forwarded] = proxyAddr.all(req);
    let client = readAddress(socket ?? "") ?? "";
    for (const [index, text] of forwarded.entries()) {
      const next = isTrusted(client, index) ? readAddress(text) : null;
      if (next === null) break;
      client = next;
    }
    return client;
  };
}
