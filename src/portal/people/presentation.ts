import type { AdminSchemas } from "../../admin/index.ts";
import { hasManySchools, type PageRequest } from "../frame/index.ts";

export type Person = AdminSchemas["AdminPerson"];
type Group = AdminSchemas["AdminGroup"];

export const stateOf = ({ status, blockedAt }: Pick<Person, "status" | "blockedAt">): "active" | "blocked" | "left" => {
  if (status === "SOFT_DELETED") return "left";
  return blockedAt === null ? "active" : "blocked";
};

/** The names of a person's classes at a school; of all groups where they are in no class. */
export function classesOf({ groups }: Person, classes: ReadonlyMap<string, Group>): string {
  const names = groups.filter(({ id }) => classes.has(id)).map(({ name }) => name);
  return names.join(", ");
}

/** Whether there is another school that the reader may bring the person to, or one to leave. */
export const hasOtherSchools = (request: PageRequest, person: Person): boolean =>
  hasManySchools(request) || person.schools.length > 1;
