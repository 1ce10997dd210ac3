import type { AdminSchemas } from "../../admin/index.ts";
import { managers, mayAt, office, type Visit } from "../frame/index.ts";

export type Person = AdminSchemas["AdminPerson"];
type Group = AdminSchemas["AdminGroup"];

/** Whether somebody may change the people of the school. */
export const mayChange = ({ me, part }: Visit): boolean => mayAt(me, part("schoolId"), office);

/** Whether somebody may read the audit log of the school, and delete people for good. */
export const mayReadAudit = ({ me, part }: Visit): boolean => mayAt(me, part("schoolId"), [...managers, "SUPPORT"]);
export const mayDelete = ({ me, part }: Visit): boolean => mayAt(me, part("schoolId"), managers);

export const nameOf = ({ name }: Pick<Person, "name">, { t }: Pick<Visit, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;

/** What a person is to the office. */
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
export const hasManySchools = ({ me }: Visit, person: Person): boolean =>
  me.schools.length > 1 || person.schools.length > 1 || me.roles.some(({ role }) => role === "OPERATOR");

/** Whether somebody sees the apps that the school can choose, not only those of one person. */
export const maySeeCatalogue = mayReadAudit;
