import type { IncomingMessage } from "node:http";

const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1;

/** Whether a proxy may have parsed the request differently (RFC 9112 sections 3.2 and 6.1). */
export function isAmbiguous(req: IncomingMessage): boolean {
  const { host = "", "transfer-encoding": coding } = req.headers;
  if (req.httpVersion === "0.9" || hasSeveralHosts(req) || !/^[\w.~%[\]:-]*$/.test(host)) return true;
  return coding !== undefined && (coding.toLowerCase() !== "chunked" || req.httpVersion === "1.0");
}

export function pathOfTarget(target: string): string | null {
  if (target.startsWith("/") || target === "*") return target;
  const [, path] = /^https?:\/\/[^/?#]*([^#]*)/i.exec(target) ?? [];
  if (path === undefined) return null;
  return path.startsWith("/") ? path : `/${path}`;
}
