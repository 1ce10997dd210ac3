/** What prevents a run, with its sentence for logs; pages have their own in both languages. */
import type { z } from "zod";

const sourceFailures = {
  UNREACHABLE: "The source could not be reached, or the connection broke.",
  ADDRESS_REFUSED: "The address is not public, or is not called over https.",
  REFUSED_CREDENTIALS: "The source refused the credentials.",
  NOT_FOUND: "The source has nothing at this address.",
  ANSWERED_BADLY: "The source sent something that is no roster.",
  TOO_LARGE: "The source sent more than a roster may have.",
  TOO_SLOW: "The source did not send the roster in time.",
  HALF: "The source sent only a part of the roster.",
  OTHER_SCHOOL: "The source sent the roster of another school.",
  EMPTY: "The source sent nobody.",
} as const;
export type SourceFailure = keyof typeof sourceFailures;

/**
 * `detail` is for the log: no names, no secrets; `status` is that of the answer, if one refused the request, and
 * `scope` what it says that the token lacks.
 */
export class SourceError extends Error {
  readonly code: SourceFailure;
  readonly detail: string;
  readonly status: number | null;
  readonly scope: string | null;

  constructor(
    code: SourceFailure,
    detail = "",
    { cause, status = null, scope = null }: { cause?: unknown; status?: number | null; scope?: string | null } = {},
  ) {
    super(`${sourceFailures[code]} ${detail}`.trim(), { cause });
    this.code = code;
    this.detail = detail;
    this.status = status;
    this.scope = scope;
  }
}

/** Errors: SourceError ANSWERED_BADLY, which says where the value has another shape, and quotes nothing of it. */
export function checkShape<Value>(shape: z.ZodType<Value>, value: unknown, what: string): Value {
  const { data, error } = shape.safeParse(value);
  if (error === undefined) return data as Value;
  const paths = error.issues.slice(0, 3).map(({ path, code }) => `${path.join(".") || "it"}: ${code}`);
  throw new SourceError("ANSWERED_BADLY", `${what} has another shape (${paths.join(", ")})`);
}
