import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";
import { Refused, unwrapPage } from "./refused.ts";

const mostMembers = 1000;

export async function listMembers({ api, path }: PageRequest): Promise<AdminSchemas["AdminMember"][]> {
  const params = { path, query: { limit: mostMembers } };
  return (await unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params }))).items;
}

/** A class teacher reads the people of a class only as its members. Errors: Refused for a person who is not in it. */
export async function readMember(request: PageRequest): Promise<AdminSchemas["AdminMember"]> {
  const member = (await listMembers(request)).find(({ id }) => id === request.path.personId);
  if (member === undefined) throw new Refused(404, { code: "person_not_found" });
  return member;
}

/** Asks the home school of a guest for a new password. */
export const requestPassword = ({ api, path }: PageRequest) =>
  api.POST("/admin/v1/people/{personId}/login/password-request", {
    params: { path },
    body: { schoolId: path.schoolId },
  });

export const isMemberPage = ({ req, path }: PageRequest): boolean => req.path.includes(`/members/${path.personId}`);

/** The page of the person in their class, or their own page. */
export const personAddress = (request: PageRequest): string => {
  const { schoolId, groupId, personId } = request.path;
  const school = `/admin/schools/${schoolId}`;
  return isMemberPage(request) ? `${school}/classes/${groupId}/members/${personId}` : `${school}/people/${personId}`;
};
