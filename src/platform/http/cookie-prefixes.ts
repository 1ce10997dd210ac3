import type { IncomingMessage, ServerResponse } from "node:http";

const [host, secure] = ["__Host-", "__Secure-"] as const;
const cookieName = (cookie: string): string => cookie.slice(0, cookie.indexOf("=")).trim();

/** `__Host-`, or `__Secure-` for `ofOnePath`, on https; cookies without are ignored (RFC 6265bis 4.1.3). */
export function makeCookiePrefixes(
  { issuerUrl }: { issuerUrl: string },
  ofOnePath: ReadonlySet<string>,
): (req: IncomingMessage, res: ServerResponse) => void {
  if (!issuerUrl.startsWith("https:")) return () => undefined;
  const prefixOf = (name: string) => (ofOnePath.has(name.replace(/\.sig$/, "")) ? secure : host);

  function strip(header: string): string {
    const cookies = header.split(";").flatMap((text) => {
      const cookie = text.trim();
      const prefix = cookie.startsWith(host) ? host : secure;
      const bare = cookie.slice(prefix.length);
      return cookie.startsWith(prefix) && prefixOf(cookieName(bare)) === prefix ? [bare] : [];
    });
    return cookies.join("; ");
  }

  function add(cookie: string): string {
    const isSecure = /;\s*secure\s*(;|$)/i.test(cookie);
    return `${prefixOf(cookieName(cookie))}${cookie}${isSecure ? "" : "; Secure"}`;
  }

  return (req, res) => {
    const cookies = req.headers.cookie === undefined ? "" : strip(req.headers.cookie);
    if (cookies === "") delete req.headers.cookie;
    else req.headers.cookie = cookies;
    // The last point at which headers can change.
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
    res.writeHead = (...args: unknown[]) => {
      const set = res.getHeader("set-cookie");
      if (set !== undefined)
        res.setHeader(
          "Set-Cookie",
          [set].flat().map((cookie) => add(String(cookie))),
        );
      return writeHead(...args);
    };
  };
}
