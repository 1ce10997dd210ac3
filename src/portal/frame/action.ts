import type { AuditAction } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";
import german from "./locales/de.json" with { type: "json" };

const known: Record<string, string> = german.frame.action satisfies Record<AuditAction | "unknown", string>;

/** Describes an action of the audit log; an earlier or later release may have recorded one without a text. */
export const describeAction = (action: string, t: PageRequest["t"]): string =>
  t(`frame.action.${action in known ? action : "unknown"}`);
