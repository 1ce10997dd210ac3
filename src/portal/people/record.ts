import { personAddress, Refused, unwrapRecord, type PageRequest } from "../frame/index.ts";
import type { Person } from "./presentation.ts";

export const addressOf = personAddress;

/** Errors: Refused for a person of another school. */
export async function readPerson({ api, path }: PageRequest): Promise<{ record: Person; tag: string }> {
  const read = await unwrapRecord(api.GET("/admin/v1/people/{personId}", { params: { path } }));
  if (!read.record.schools.some(({ id }) => id === path.schoolId)) throw new Refused(404, { code: "person_not_found" });
  return read;
}
