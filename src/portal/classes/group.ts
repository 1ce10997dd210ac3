import { nameOf, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { groupAddress, readGroup } from "./group-record.ts";

const pageSize = 50;

export async function showGroup(request: PageRequest): Promise<PageView> {
  const { api, path, query, typed, field } = request;
  const onlyWithout = query("has-login") === "false";
  const asked = { limit: pageSize, ...request.cursor, ...(onlyWithout && { "has-login": false }) };
  const [{ record: group, tag }, { items, more }] = await Promise.all([
    readGroup(request),
    unwrapPage(api.GET("/admin/v1/groups/{groupId}/members", { params: { path, query: asked } })),
  ]);
  const base = groupAddress(request);
  const model = {
    group,
    tag,
    base,
    schoolId: path.schoolId,
    onlyWithout,
    more: more(base, onlyWithout ? { "has-login": "false" } : {}),
    members: items.map((member) => ({ ...member, fullName: nameOf(member, request) })),
    mayChange: request.may("updateGroup"),
    mayGiveLogins: request.may("createGroupPasswords"),
    name: typed["name"] === undefined ? group.name : field("name"),
  };
  return { title: group.name, view: "group", model };
}
