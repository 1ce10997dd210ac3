import type { z } from "zod";

export type Option<Value extends z.ZodType = z.ZodType> = {
  value: Value;
  /** Used when the variable is not set; null: no value, or `defaultMeaning` describes it. */
  default: string | null;
  defaultMeaning?: string;
  meaning: string;
  example: string;
  /** Never printed. */
  secret?: true;
};
