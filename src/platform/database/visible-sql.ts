import type { Sql } from "./sql.ts";

// Types without which a read does not compile. Only src/access/visibility.ts makes them; a lint rule refuses the cast
// elsewhere.

declare const visible: unique symbol;

/** A condition that holds only for what the caller may see. */
export type Visible = Sql & { readonly [visible]: "condition" };

/** A FROM clause with only what the caller may see, to be followed by WHERE. */
export type VisibleRows = Sql & { readonly [visible]: "rows" };
