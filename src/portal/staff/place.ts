import type { AdminSchemas } from "../../admin/index.ts";
import { managers, mayAt, type Visit } from "../frame/index.ts";

export type RoleName = AdminSchemas["StaffRoleName"];

/** Which staff a page is about: that of a school, or of the whole service. */
export type Staff = {
  schoolId: string | null;
  address: string;
  place: { schoolId: string | null; page: string };
  /** The roles that the reader may give and withdraw here. */
  given: readonly RoleName[];
};

const ofSchool: readonly RoleName[] = ["SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER"];

export function staffOf({ me, part }: Visit): Staff {
  const isOperator = me.roles.some(({ role }) => role === "OPERATOR");
  const schoolId = part("schoolId") || null;
  if (schoolId === null) {
    const given: RoleName[] = isOperator ? ["OPERATOR", "DISTRICT", "SUPPORT", "PARTNER"] : [];
    return { schoolId, address: "/admin/staff", place: { schoolId, page: "operator/staff" }, given };
  }
  const mayGive = mayAt(me, schoolId, managers);
  return {
    schoolId,
    address: `/admin/schools/${schoolId}/staff`,
    place: { schoolId, page: "staff" },
    given: isOperator ? [...ofSchool, "SUPPORT"] : mayGive ? ofSchool : [],
  };
}

export const nameOf = (name: AdminSchemas["PersonName"], { t }: Pick<Visit, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;
