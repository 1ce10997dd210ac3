import { unwrap } from "./refused.ts";
import { nameOf } from "./person-name.ts";
import type { PageRequest } from "./page-request.ts";

export type ProposedTeacher = { id: string; name: string; classes: string; state: string };

const mostTeachers = 1000;

/** Teachers of classes at the page's school who have no role for them; none if the reader may not give roles. */
export async function listProposedTeachers(request: PageRequest): Promise<ProposedTeacher[]> {
  const { api, path } = request;
  if (path.schoolId === undefined || !request.may("giveClassTeacherRoles")) return [];
  const params = { path, query: { limit: mostTeachers } };
  const found = await unwrap(api.GET("/admin/v1/schools/{schoolId}/class-teacher-proposals", { params }));
  return found.map(({ id, name, classes, state }) => ({
    id,
    name: nameOf({ name }, request),
    classes: classes.map((one) => one.name).join(", "),
    state,
  }));
}
