import type { OperationId } from "../../admin/index.ts";
import type { PageHandler } from "./area.ts";
import { Refused, unwrap } from "./refused.ts";

/** Errors: Refused role_forbids for readers who may not call the operation, not_found if they cannot see the school. */
export const onlyIf =
  (operation: OperationId, show: PageHandler): PageHandler =>
  async (request) => {
    if (request.may(operation)) return show(request);
    const { api, path, param } = request;
    if (param("schoolId") !== "") await unwrap(api.GET("/admin/v1/schools/{schoolId}", { params: { path } }));
    throw new Refused(403, { code: "role_forbids" });
  };
