import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, takeRecord, type Visit } from "../frame/index.ts";

export type Group = AdminSchemas["AdminGroup"];

export const nameOf = ({ name }: Pick<AdminSchemas["AdminMember"], "name">, { t }: Pick<Visit, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;

export const listAddress = ({ part }: Visit): string => `/admin/schools/${part("schoolId")}/classes`;
export const groupAddress = (visit: Visit): string => `${listAddress(visit)}/${visit.part("groupId")}`;
export const pathOf = ({ part }: Visit): { groupId: string } => ({ groupId: part("groupId") });

/** The group that the page is about, with the tag of the record. Errors: Refused for one of another school. */
export async function readGroup(visit: Visit): Promise<{ record: Group; tag: string }> {
  const { api, part } = visit;
  const read = await takeRecord(api.GET("/admin/v1/groups/{groupId}", { params: { path: pathOf(visit) } }));
  if (read.record.schoolId !== part("schoolId")) throw new Refused(404, { code: "group_not_found" });
  return read;
}
