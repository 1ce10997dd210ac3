import type { AdminSchemas } from "../../admin/index.ts";
import { hasManySchools, type PageRequest } from "../frame/index.ts";

export type Person = AdminSchemas["AdminPerson"];
type Group = AdminSchemas["AdminGroup"];

export const stateOf = ({ status, blockedAt }: Pick<Person, "status" | "blockedAt">): "active" | "blocked" | "left" => {
  if (status === "SOFT_DELETED") return "left";
  return blockedAt === null ? "active" : "blocked";
};

/** The person's classes at a school; all groups if there are no classes. */
export function classesOf({ groups }: Person, classes: ReadonlyMap<string, Group>): string {
  const names = groups.filter(({ id }) => classes.has(id)).map(({ name }) => name);
  return names.join(", ");
}

/** Where the reader begins to hand over a pupil of the school; null if they may not. */
export const handOverAddress = (request: PageRequest, { id, role, isGuest, status }: Person): string | null =>
  role === "STUDENT" && !isGuest && status === "ACTIVE" && request.may("createHandover")
    ? `/admin/schools/${request.path.schoolId}/handovers/new?person=${id}`
    : null;

/** Whether the reader may add the person to another school, or remove them from one. */
export const hasOtherSchools = (request: PageRequest, person: Person): boolean =>
  hasManySchools(request) || person.schools.length > 1;
