import type { GroupId, PersonId, PersonRole, SchoolId } from "../../directory/index.ts";
import type { LoginState, MadeLogin } from "../../accounts/index.ts";
import { bodyOf, dateOf, once, type Remote } from "../admin-api.ts";

export async function findLogin({ api }: Remote, personId: PersonId): Promise<LoginState> {
  const params = { path: { personId } };
  const login = await bodyOf(api.GET("/admin/v1/people/{personId}/login", { params }));
  const { username, hasPassword, changedAt, blockedAt, sessions } = login;
  return { personId, username, hasPassword, changedAt: new Date(changedAt), blockedAt: dateOf(blockedAt), sessions };
}

type Asked = { schoolId: SchoolId; onlyMissing: boolean } & (
  { groupId: GroupId } | { roles: readonly [PersonRole, ...PersonRole[]] | readonly PersonRole[] }
);

export async function makePasswords({ api }: Remote, asked: Asked): Promise<MadeLogin[]> {
  const { schoolId, onlyMissing } = asked;
  const made =
    "groupId" in asked
      ? await makeForGroup({ api }, asked)
      : await bodyOf(
          api.POST("/admin/v1/schools/{schoolId}/logins", {
            params: { path: { schoolId }, ...once() },
            body: { onlyMissing, roles: [...asked.roles] },
          }),
        );
  return made.map(({ personId, name, username, password }) => ({
    personId: personId as PersonId,
    name,
    username,
    password,
  }));
}

type OfGroup = { schoolId: SchoolId; groupId: GroupId; onlyMissing: boolean };

/** Nobody is in a group of another school. */
async function makeForGroup({ api }: Pick<Remote, "api">, { schoolId, groupId, onlyMissing }: OfGroup) {
  const path = { groupId };
  const group = await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path } }));
  if (group.schoolId !== schoolId) return [];
  const params = { path, ...once() };
  return bodyOf(api.POST("/admin/v1/groups/{groupId}/logins", { params, body: { onlyMissing } }));
}
