import type { OperationId } from "../../admin/index.ts";
import type { PageHandler } from "./area.ts";
import { Refused, unwrap } from "./refused.ts";

/**
 * Keeps a page for those who may call the operation of its form.
 *
 * Errors: Refused role_forbids for others; not_found if they do not reach the school either.
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
