import { takePage, type Shown, type Visit } from "../frame/index.ts";
import { groupAddress, nameOf, pathOf, readGroup } from "./words.ts";

const pageSize = 50;

/** A group with its members. */
export async function showGroup(visit: Visit): Promise<Shown> {
  const { api, part, query, typed, field } = visit;
  const [cursor, onlyWithout] = [query("cursor"), query("has-login") === "false"];
  const asked = { limit: pageSize, ...(cursor !== "" && { cursor }), ...(onlyWithout && { "has-login": false }) };
  const [{ record: group, tag }, { items, next }] = await Promise.all([
    readGroup(visit),
    takePage(api.GET("/admin/v1/groups/{groupId}/members", { params: { path: pathOf(visit), query: asked } })),
  ]);
  const base = groupAddress(visit);
  const rest = new URLSearchParams({ ...(onlyWithout && { "has-login": "false" }), cursor: next ?? "" });
  const model = {
    group,
    tag,
    base,
    schoolId: part("schoolId"),
    onlyWithout,
    more: next && `${base}?${rest.toString()}`,
    members: items.map((member) => ({ ...member, fullName: nameOf(member, visit) })),
    mayChange: visit.may("updateGroup"),
    mayGiveLogins: visit.may("createGroupPasswords"),
    name: typed["name"] === undefined ? group.name : field("name"),
  };
  return { title: group.name, view: "group", model };
}
