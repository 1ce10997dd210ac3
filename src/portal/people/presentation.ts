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

/** Whether the reader may add the person to another school, or remove them from one. */
export const hasOtherSchools = (request: PageRequest, person: Person): boolean =>
  hasManySchools(request) || person.schools.length > 1;
