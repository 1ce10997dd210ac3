import type { AdminSchemas } from "../../admin/index.ts";
import { unwrapPage } from "./refused.ts";
import type { PageRequest } from "./page-request.ts";

const most = 1000;

/** The schools of the caller's roles; all for those whose roles reach everything. */
export async function listMySchools({ api, me, permissions }: PageRequest): Promise<AdminSchemas["NamedSchool"][]> {
  if (!permissions.reachesAll) return me.schools;
  return (await unwrapPage(api.GET("/admin/v1/schools", { params: { query: { limit: most } } }))).items;
}
