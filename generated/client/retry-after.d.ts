/**
 * Reads a `Retry-After` header, which holds seconds or a date; null if it holds neither.
 *
 * Units: milliseconds from now, 0 for a date in the past.
 * Source: RFC 9110 section 10.2.3.
 */
export declare function readRetryAfter(value: string | null): number | null;
