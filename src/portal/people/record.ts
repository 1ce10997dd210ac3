import { Refused, unwrapRecord, type PageRequest } from "../frame/index.ts";
import type { Person } from "./presentation.ts";

export const addressOf = ({ param }: PageRequest): string =>
  `/admin/schools/${param("schoolId")}/people/${param("personId")}`;

export const pathOf = ({ param }: PageRequest): { personId: string } => ({ personId: param("personId") });

/** Errors: Refused for a person of another school. */
export async function readPerson(request: PageRequest): Promise<{ record: Person; tag: string }> {
  const { api, param } = request;
  const read = await unwrapRecord(api.GET("/admin/v1/people/{personId}", { params: { path: pathOf(request) } }));
  if (!read.record.schools.some(({ id }) => id === param("schoolId")))
    throw new Refused(404, { code: "person_not_found" });
  return read;
}
