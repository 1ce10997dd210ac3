import type { z } from "zod";

export type Option<Value extends z.ZodType = z.ZodType> = {
  value: Value;
  /** Taken when the variable is not set; null: the option then has no value, or `defaultMeaning` says which. */
  default: string | null;
  defaultMeaning?: string;
  meaning: string;
  example: string;
  /** Its value is never printed. */
  secret?: true;
};
