import type { OperationId } from "../../admin/index.ts";
import type { PageHandler } from "./area.ts";
import { Refused, unwrap } from "./refused.ts";

/**
 * Refuses readers who may not call the operation of the page's form.
 *
 * Errors: Refused role_forbids; not_found if the reader may not see the school either.
 */
export const onlyIf =
  (operation: OperationId, show: PageHandler): PageHandler =>
  async (request) => {
    if (request.may(operation)) return show(request);
    const schoolId = request.param("schoolId");
    if (schoolId !== "")
      await unwrap(request.api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }));
    throw new Refused(403, { code: "role_forbids" });
  };
