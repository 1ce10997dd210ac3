import type { AdminSchemas } from "../../admin/index.ts";
import type { PageView, PageRequest } from "../frame/index.ts";

export type RoleName = AdminSchemas["StaffRoleName"];

/** The staff of one school, or of the whole service. */
type Staff = {
  schoolId: string | null;
  address: string;
  page: NonNullable<PageView["page"]>;
  given: readonly RoleName[];
};

export function staffOf({ permissions, param }: PageRequest): Staff {
  const schoolId = param("schoolId") || null;
  const given = permissions.rolesToGive(schoolId);
  if (schoolId === null) return { schoolId, address: "/admin/staff", page: "operator_staff", given };
  return { schoolId, address: `/admin/schools/${schoolId}/staff`, page: "staff", given };
}
