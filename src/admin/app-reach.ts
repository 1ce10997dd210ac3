import type { ClientId } from "../access/index.ts";
import type { Reach } from "../staff/index.ts";

/** The apps that a caller sees: all for staff of schools, who choose among them; else their own. */
export const appsOf = ({ all, schoolIds, clientIds }: Reach): ClientId[] | undefined =>
  all || schoolIds.size > 0 ? undefined : [...clientIds];

/** Whether a caller sees an app. */
export const reachesApp = (reach: Reach, clientId: ClientId): boolean => appsOf(reach)?.includes(clientId) ?? true;
