import type { IncomingMessage } from "node:http";

const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1;

/**
 * Whether a proxy in front may have read the request in another way: it names two hosts or none that can be, is of a
 * version that has no headers, or has its body in a coding that not everybody knows.
 *
 * Shape:  what Node itself refuses, such as two lengths, does not get here.
 * Source: RFC 9112 sections 3.2 and 6.1.
 */
export function isAmbiguous(req: IncomingMessage): boolean {
  const { host = "", "transfer-encoding": coding } = req.headers;
  if (req.httpVersion === "0.9" || hasSeveralHosts(req) || !/^[\w.~%[\]:-]*$/.test(host)) return true;
  return coding !== undefined && (coding.toLowerCase() !== "chunked" || req.httpVersion === "1.0");
}

/** The path and query of a request target; null for one that is neither a path, `*` nor an address of http. */
export function pathOfTarget(target: string): string | null {
  if (target.startsWith("/") || target === "*") return target;
  const [, path] = /^https?:\/\/[^/?#]*([^#]*)/i.exec(target) ?? [];
  if (path === undefined) return null;
  return path.startsWith("/") ? path : `/${path}`;
}
