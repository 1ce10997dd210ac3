import type { AdminSchemas } from "../../admin/index.ts";
import { mayAt, office, Refused, takeRecord, type Shown, type Visit } from "../frame/index.ts";

export type Group = AdminSchemas["AdminGroup"];

/** Whether somebody may change the groups of the school. */
export const mayChange = ({ me, part }: Visit): boolean => mayAt(me, part("schoolId"), office);

/** Whether somebody may give logins to the pupils of their groups. */
export const mayGiveLogins = ({ me, part }: Visit): boolean =>
  mayAt(me, part("schoolId"), [...office, "CLASS_TEACHER"]);

export const nameOf = ({ name }: Pick<AdminSchemas["AdminMember"], "name">, { t }: Pick<Visit, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;

export const listAddress = ({ part }: Visit): string => `/admin/schools/${part("schoolId")}/classes`;
export const groupAddress = (visit: Visit): string => `${listAddress(visit)}/${visit.part("groupId")}`;
export const pathOf = ({ part }: Visit): { groupId: string } => ({ groupId: part("groupId") });

export const placeOf = ({ part }: Visit): Shown["place"] => ({ schoolId: part("schoolId"), page: "classes" });

/** The group that the page is about, with the tag of the record. Errors: Refused for one of another school. */
export async function readGroup(visit: Visit): Promise<{ record: Group; tag: string }> {
  const { api, part } = visit;
  const read = await takeRecord(api.GET("/admin/v1/groups/{groupId}", { params: { path: pathOf(visit) } }));
  if (read.record.schoolId !== part("schoolId")) throw new Refused(404, { code: "group_not_found" });
  return read;
}
