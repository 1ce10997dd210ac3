import { Refused, type Visit } from "../frame/index.ts";

/** Errors: Refused role_forbids, also where another role may read the same. */
export function refuseOthers({ me }: Pick<Visit, "me">): void {
  if (!me.roles.some(({ role }) => role === "OPERATOR")) throw new Refused(403, { code: "role_forbids" });
}
