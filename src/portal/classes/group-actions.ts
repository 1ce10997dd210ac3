import type { AdminSchemas } from "../../admin/index.ts";
import { take, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { groupAddress, listAddress, pathOf, readGroup } from "./words.ts";

type Kind = AdminSchemas["NewGroup"]["type"];

export const showNewGroup = (visit: Visit): Promise<Shown> =>
  Promise.resolve({
    title: visit.t("new.title"),
    view: "new",
    model: { base: listAddress(visit) },
  });

export async function addGroup(visit: Visit): Promise<Gone> {
  const { api, field, part, once } = visit;
  const body = { schoolId: part("schoolId"), name: field("name"), type: field("type") as Kind };
  const made = await take(api.POST("/admin/v1/groups", { params: { header: { "Idempotency-Key": once } }, body }));
  return { to: `${listAddress(visit)}/${made.id}`, done: "groupAdded" };
}

export async function rename(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const params = { path: pathOf(visit), header: { "If-Match": field("tag") } };
  await take(api.PATCH("/admin/v1/groups/{groupId}", { params, body: { name: field("name") } }));
  return { to: groupAddress(visit), done: "groupRenamed" };
}

/** Says what apps no longer see of a group that is deleted. */
export async function showDeletion(visit: Visit): Promise<Shown> {
  const { api, t } = visit;
  const params = { path: pathOf(visit), query: { "dry-run": true } };
  const [{ record: group, tag }, changes] = await Promise.all([
    readGroup(visit),
    take(api.DELETE("/admin/v1/groups/{groupId}", { params })),
  ]);
  const model = { group, tag, base: groupAddress(visit), changes: changes ?? [] };
  return { title: t("deletion.title"), view: "deletion", model };
}

export async function deleteGroup(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const tag = field("tag");
  const params = { path: pathOf(visit), header: tag === "" ? {} : { "If-Match": tag } };
  await take(api.DELETE("/admin/v1/groups/{groupId}", { params }));
  return { to: groupAddress(visit), done: "groupDeleted" };
}

export async function restoreGroup(visit: Visit): Promise<Gone> {
  await take(visit.api.POST("/admin/v1/groups/{groupId}/restoration", { params: { path: pathOf(visit) } }));
  return { to: groupAddress(visit), done: "groupRestored" };
}
