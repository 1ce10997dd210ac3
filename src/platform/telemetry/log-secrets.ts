const hidden = "[hidden]";

const secretKey =
  /authorization|cookie|password|passphrase|secret|token|verifier|challenge|credential|username|login_?hint|private|^(first_?full|first_?call|last|(given|family|call)_?name|vorname|familienname|jwk|assertion|nonce|state)$/i;
const addressKey = /^(url|uri|path|location|referer|original_?url)$/i;

function presentError(error: Error, depth: number): Record<string, unknown> {
  const { code, kind, internal, cause } = error as Error & { code?: unknown; kind?: unknown; internal?: unknown };
  // No other properties: a database error quotes the row in `detail`.
  const fields = { type: error.name, message: error.message, code, kind, internal, stack: error.stack };
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ...(cause === undefined ? {} : { cause: hideIn(cause, depth + 1) }),
  };
}

function hideIn(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== "object") return value;
  if (depth > 5) return "[deep]";
  if (value instanceof Error) return presentError(value, depth);
  if (value instanceof Date || Buffer.isBuffer(value)) return Buffer.isBuffer(value) ? hidden : value;
  if (Array.isArray(value)) return value.map((entry) => hideIn(entry, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, hideEntry(key, entry, depth)]));
}

function hideEntry(key: string, value: unknown, depth: number): unknown {
  if (typeof value === "string" && addressKey.test(key)) return value.replace(/[?#].*$/s, "");
  const isHarmless = value === null || ["undefined", "number", "boolean"].includes(typeof value);
  if (secretKey.test(key) && !isHarmless) return hidden;
  if (/^name$/i.test(key) && typeof value === "object" && value !== null) return hidden;
  return hideIn(value, depth + 1);
}

export function hideSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return hideIn(fields, 0) as Record<string, unknown>;
}
