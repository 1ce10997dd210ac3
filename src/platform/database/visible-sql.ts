import type { Sql } from "./sql.ts";

// Types without which a read does not compile. Only src/access/visibility.ts makes them; a lint rule refuses the cast
// elsewhere.

declare const visible: unique symbol;

export type Visible = Sql & { readonly [visible]: "condition" };

export type VisibleRows = Sql & { readonly [visible]: "rows" };
