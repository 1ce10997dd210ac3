/**
 * The headers of every page. `formTargets`, from `formTarget`: browsers apply `form-action` to redirects after a form,
 * so an app's redirect origin belongs there. `scripts` allows scripts and requests of this origin.
 */
export function pageHeaders(formTargets: readonly string[] = [], scripts = false): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    `form-action ${["'self'", ...new Set(formTargets)].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
  };
}

/**
 * A validated redirect URI as a form-action source: its origin, or the scheme of a mobile app. Throws for what could
 * end the directive.
 */
export function formTarget(redirectUri: string): string {
  const uri = new URL(redirectUri);
  const source = uri.origin === "null" ? uri.protocol : uri.origin;
  if (!/^[a-z][a-z0-9+.-]*:(\/\/[^\s;,'"]+)?$/i.test(source)) throw new Error("not a redirect address");
  return source;
}
