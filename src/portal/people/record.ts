import { Refused, unwrapRecord, type PageRequest } from "../frame/index.ts";
import type { Person } from "./presentation.ts";

export const addressOf = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/people/${path.personId}`;

/** Errors: Refused for a person of another school. */
export async function readPerson({ api, path }: PageRequest): Promise<{ record: Person; tag: string }> {
  const read = await unwrapRecord(api.GET("/admin/v1/people/{personId}", { params: { path } }));
  if (!read.record.schools.some(({ id }) => id === path.schoolId)) throw new Refused(404, { code: "person_not_found" });
  return read;
}
