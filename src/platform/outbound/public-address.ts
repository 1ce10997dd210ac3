import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Azure's platform address: in a public range, but internal. */
const insideClouds = new Set(["168.63.129.16"]);

/** Source: IANA special-purpose address registries, RFC 6890, through ipaddr.js. */
export function isPublicAddress(address: string): boolean {
  // isIP first: ipaddr.js also reads old spellings such as 0x7f.1.
  if (isIP(address) === 0 || insideClouds.has(address)) return false;
  const parsed = ipaddr.parse(address);
  return (
    parsed.range() === "unicast" && (parsed instanceof ipaddr.IPv4 || (!parsed.zoneId && parsed.match(globalUnicast)))
  );
}
