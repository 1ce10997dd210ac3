import { AppError } from "../platform/errors.ts";
import { type OutboundPolicy, checkReceiver } from "../platform/outbound/guarded-request.ts";

type UriRules = {
  allowLoopbackHttp: boolean;
  allowOwnScheme: boolean;
};

const loopbackHosts = new Set(["127.0.0.1", "[::1]", "localhost"]);

const refuse = (property: string | undefined, message: string): AppError =>
  new AppError("invalid", "uri_refused", message, undefined, { property });

/**
 * `property` is where it is in the registration. Errors: invalid uri_refused.
 * Source: RFC 9700 section 4.1, RFC 8252 section 7.1.
 */
export function checkUri(property: string, uri: string, rules: UriRules): void {
  const reason = findFault(uri, rules);
  if (reason) throw refuse(property, `An address was refused: it ${reason}.`);
}

function findFault(uri: string, rules: UriRules): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || /[*\\"<>^`{|}]/.test(uri)) return "holds characters that an address must not hold";
  if (!URL.canParse(uri)) return "is not absolute";
  const url = new URL(uri);
  if (uri.includes("#")) return "has a fragment";
  if (url.username || url.password) return "holds credentials";
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:" && rules.allowLoopbackHttp && loopbackHosts.has(url.hostname)) return null;
  if (rules.allowOwnScheme && /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/.test(url.protocol)) return null;
  const allowed = [
    "https",
    ...(rules.allowLoopbackHttp ? [`http at ${[...loopbackHosts].join(", ")}`] : []),
    ...(rules.allowOwnScheme ? ["a reversed domain name such as com.example.app"] : []),
  ];
  return `has the scheme ${url.protocol.slice(0, -1).slice(0, 40)}; allowed is ${allowed.join(" or ")}`;
}

/** A checked URI that this service calls; the only kind that is stored. */
export type CalledUri = string & { readonly __calledUri: true };

/** Resolves the host name, so it must run before the transaction. Errors: invalid uri_refused. */
export async function checkCalledUri(uri: string, policy: OutboundPolicy, property?: string): Promise<CalledUri> {
  await checkReceiver(uri, policy, (why) =>
    refuse(property, `An address that this service calls was refused: ${why}.`),
  );
  return uri as CalledUri;
}
