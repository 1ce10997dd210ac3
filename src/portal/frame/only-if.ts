import type { Show } from "./area.ts";
import { Refused, take } from "./refused.ts";
import type { Visit } from "./visit.ts";

/**
 * A page that is for those alone who may send its form.
 *
 * Errors: Refused role_forbids for others; not_found where they do not reach the school either.
 */
export const onlyIf =
  (may: (visit: Visit) => boolean, show: Show): Show =>
  async (visit) => {
    if (may(visit)) return show(visit);
    const schoolId = visit.part("schoolId");
    if (schoolId !== "") await take(visit.api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }));
    throw new Refused(403, { code: "role_forbids" });
  };
