import type { z } from "zod";
import { SourceError } from "./failure.ts";

/** Errors: SourceError ANSWERED_BADLY, which says where the value has another shape, and quotes nothing of it. */
export function checkShape<Value>(shape: z.ZodType<Value>, value: unknown, what: string): Value {
  const { data, error } = shape.safeParse(value);
  if (error === undefined) return data as Value;
  const paths = error.issues.slice(0, 3).map(({ path, code }) => `${path.join(".") || "it"}: ${code}`);
  throw new SourceError("ANSWERED_BADLY", `${what} has another shape (${paths.join(", ")})`);
}
