import { Refused, takeRecord, type Visit } from "../frame/index.ts";
import type { Person } from "./words.ts";

export const addressOf = ({ part }: Visit): string => `/admin/schools/${part("schoolId")}/people/${part("personId")}`;

export const pathOf = ({ part }: Visit): { personId: string } => ({ personId: part("personId") });

/** The person that the page is about, with the tag of the record. Errors: Refused for one of another school. */
export async function readPerson(visit: Visit): Promise<{ record: Person; tag: string }> {
  const { api, part } = visit;
  const read = await takeRecord(api.GET("/admin/v1/people/{personId}", { params: { path: pathOf(visit) } }));
  if (!read.record.schools.some(({ id }) => id === part("schoolId")))
    throw new Refused(404, { code: "person_not_found" });
  return read;
}
