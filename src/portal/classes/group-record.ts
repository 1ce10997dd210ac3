import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, unwrapRecord, type PageRequest } from "../frame/index.ts";

export type Group = AdminSchemas["AdminGroup"];

export const listAddress = ({ param }: PageRequest): string => `/admin/schools/${param("schoolId")}/classes`;
export const groupAddress = (request: PageRequest): string => `${listAddress(request)}/${request.param("groupId")}`;
export const pathOf = ({ param }: PageRequest): { groupId: string } => ({ groupId: param("groupId") });

/** The group of the page and its tag. Errors: Refused for a group of another school. */
export async function readGroup(request: PageRequest): Promise<{ record: Group; tag: string }> {
  const { api, param } = request;
  const read = await unwrapRecord(api.GET("/admin/v1/groups/{groupId}", { params: { path: pathOf(request) } }));
  if (read.record.schoolId !== param("schoolId")) throw new Refused(404, { code: "group_not_found" });
  return read;
}
