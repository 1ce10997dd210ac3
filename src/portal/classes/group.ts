import type { AdminSchemas } from "../../admin/index.ts";
import { nameOf, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { groupAddress, readGroup } from "./group-record.ts";

type SignInState = AdminSchemas["SignInState"];

const pageSize = 50;
const mostCounted = 200;
const states: readonly SignInState[] = ["IMPOSSIBLE", "NEVER"];

/** `role=STUDENT` in the address: only the pupils who are at the school. */
const pupils = { role: "STUDENT", status: "ACTIVE" } as const;
type Filter = Partial<typeof pupils> & { "sign-in"?: SignInState };

const membersOf = ({ api, path }: PageRequest, query: Filter & { limit: number }) =>
  unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params: { path, query } }));

/** How many members are in a state; "200+" for more than a page of the API. */
async function countMembers(request: PageRequest, whom: Filter, state: SignInState) {
  const { items, next } = await membersOf(request, { limit: mostCounted, ...whom, "sign-in": state });
  return { state, count: `${items.length}${next === null ? "" : "+"}` };
}

export async function showGroup(request: PageRequest): Promise<PageView> {
  const { path, query } = request;
  const signIn = states.find((state) => state === query("sign-in"));
  const isOfPupils = query("role") === pupils.role;
  const whom: Filter = isOfPupils ? pupils : {};
  const filter: Filter = { ...whom, ...(signIn && { "sign-in": signIn }) };
  const [{ record: group, tag }, { items, more }, ...counts] = await Promise.all([
    readGroup(request),
    membersOf(request, { limit: pageSize, ...request.cursor, ...filter }),
    ...states.map((state) => countMembers(request, whom, state)),
  ]);
  const base = groupAddress(request);
  const asked = { ...(isOfPupils && { role: pupils.role }), ...(signIn && { "sign-in": signIn }) };
  const model = {
    group,
    tag,
    base,
    schoolId: path.schoolId,
    signIn,
    counts,
    isOfPupils,
    more: more(base, asked),
    members: items.map((member) => ({ ...member, fullName: nameOf(member, request) })),
    mayChange: request.may("updateGroup"),
    mayGiveLogins: request.may("createGroupPasswords"),
    mayHandOver: request.may("createHandover"),
  };
  return { title: group.name, view: "group", model };
}
