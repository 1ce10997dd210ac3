/**
 * The headers every page is sent with.
 *
 * Shape: `formTargets` are the places a form's answer may redirect to, made by `formTarget`; browsers hold
 *        `form-action` against every redirect after a form, so an app's validated redirect origin belongs here;
 *        `scripts` lets the page run scripts of this origin, and lets these call this origin.
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
 * Names a validated redirect URI as a form-action source: its origin, or the scheme of a mobile app's own scheme.
 *
 * Errors: anything else throws; a source that could end the directive never reaches the header.
 */
export function formTarget(redirectUri: string): string {
  const uri = new URL(redirectUri);
  const source = uri.origin === "null" ? uri.protocol : uri.origin;
  if (!/^[a-z][a-z0-9+.-]*:(\/\/[^\s;,'"]+)?$/i.test(source)) throw new Error("not a redirect address");
  return source;
}
