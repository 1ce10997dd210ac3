import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, unwrapRecord, type PageRequest } from "../frame/index.ts";

export type Group = AdminSchemas["AdminGroup"];

export const listAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/classes`;
export const groupAddress = (request: PageRequest): string => `${listAddress(request)}/${request.path.groupId}`;

/** The group of the page and its tag. Errors: Refused for a group of another school. */
export async function readGroup({ api, path }: PageRequest): Promise<{ record: Group; tag: string }> {
  const read = await unwrapRecord(api.GET("/admin/v1/groups/{groupId}", { params: { path } }));
  if (read.record.schoolId !== path.schoolId) throw new Refused(404, { code: "group_not_found" });
  return read;
}
