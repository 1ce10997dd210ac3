/**
 * Reads a `Retry-After` header, which holds seconds or a date; null if it holds neither.
 *
 * Units: milliseconds from now, 0 for a date in the past.
 * Source: RFC 9110 section 10.2.3.
 */
export function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Za-z]+,? /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
