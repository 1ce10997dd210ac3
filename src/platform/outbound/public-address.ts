import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** All of IPv6 that has been given out for the public internet; what is outside has another meaning, or none yet. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Public by its range, but answered inside a cloud: Azure's platform address. */
const insideClouds = new Set(["168.63.129.16"]);

/**
 * Whether an address belongs to the public internet: not private, loopback, link-local (where clouds keep their
 * metadata), shared (CGNAT), reserved, for documentation, multicast, or an IPv6 form that carries an IPv4 address.
 *
 * Source: IANA special-purpose address registries, RFC 6890, as ipaddr.js keeps them.
 */
export function isPublicAddress(address: string): boolean {
  // isIP first: ipaddr.js also reads the old spellings of inet_aton, such as 0x7f.1.
  if (isIP(address) === 0 || insideClouds.has(address)) return false;
  const parsed = ipaddr.parse(address);
  return (
    parsed.range() === "unicast" && (parsed instanceof ipaddr.IPv4 || (!parsed.zoneId && parsed.match(globalUnicast)))
  );
}
