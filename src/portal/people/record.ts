import type { AdminSchemas } from "../../admin/index.ts";
import { hasManySchools, Refused, type PageRequest } from "../frame/index.ts";

export type Person = AdminSchemas["AdminPerson"];

export const people = "/admin/schools/:schoolId/people";
export const person = `${people}/:personId`;

/** Errors: Refused for a person of another school. */
export async function readPerson({ getRecord, path }: PageRequest): Promise<{ record: Person; tag: string }> {
  const read = await getRecord("getPerson");
  if (!read.record.schools.some(({ id }) => id === path.schoolId)) throw new Refused(404, { code: "person_not_found" });
  return read;
}

export const stateOf = ({ status, blockedAt }: Pick<Person, "status" | "blockedAt">): "active" | "blocked" | "left" => {
  if (status === "SOFT_DELETED") return "left";
  return blockedAt === null ? "active" : "blocked";
};

export const classesOf = ({ groups }: Person, classIds: ReadonlySet<string>): string =>
  groups
    .filter(({ id }) => classIds.has(id))
    .map(({ name }) => name)
    .join(", ");

/** Where the reader begins to hand over a pupil of the school; null if they may not. */
export const handOverAddress = (request: PageRequest, { id, role, isGuest, status }: Person): string | null =>
  role === "STUDENT" && !isGuest && status === "ACTIVE" && request.may("createHandover")
    ? `${request.at("/admin/schools/:schoolId/handovers/new")}?person=${id}`
    : null;

/** Whether the reader may add the person to another school, or remove them from one. */
export const hasOtherSchools = (request: PageRequest, { schools }: Person): boolean =>
  hasManySchools(request) || schools.length > 1;
