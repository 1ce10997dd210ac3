import type { OperationId } from "../../admin/index.ts";
import type { Show } from "./area.ts";
import { Refused, take } from "./refused.ts";

/**
 * Keeps a page for those who may call the operation of its form.
 *
 * Errors: Refused role_forbids for others; not_found if they do not reach the school either.
 */
export const onlyIf =
  (operation: OperationId, show: Show): Show =>
  async (visit) => {
    if (visit.may(operation)) return show(visit);
    const schoolId = visit.part("schoolId");
    if (schoolId !== "") await take(visit.api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }));
    throw new Refused(403, { code: "role_forbids" });
  };
