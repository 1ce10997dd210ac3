import type { Sql } from "./sql.ts";

// What a reader of the APIs has to be given, so that a read without a rule of who sees what does not compile. Only
// src/access/visibility.ts makes these; a code rule refuses the cast elsewhere.

declare const visible: unique symbol;

/** A condition that holds only of what the caller may see. */
export type Visible = Sql & { readonly [visible]: "condition" };

/** A FROM that finds only what the caller may see, to be continued with WHERE. */
export type VisibleRows = Sql & { readonly [visible]: "rows" };
