import type { AdminSchemas } from "../../admin/index.ts";
import { unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { groupAddress, listAddress, pathOf, readGroup } from "./group-record.ts";

type Kind = AdminSchemas["NewGroup"]["type"];

export const showNewGroup = (request: PageRequest): Promise<PageView> =>
  Promise.resolve({
    title: request.t("new.title"),
    view: "new",
    model: { base: listAddress(request) },
  });

export async function addGroup(request: PageRequest): Promise<Redirect> {
  const { api, field, param, idempotencyKey } = request;
  const body = { schoolId: param("schoolId"), name: field("name"), type: field("type") as Kind };
  const made = await unwrap(
    api.POST("/admin/v1/groups", { params: { header: { "Idempotency-Key": idempotencyKey } }, body }),
  );
  return { to: `${listAddress(request)}/${made.id}`, done: "groupAdded" };
}

export async function rename(request: PageRequest): Promise<Redirect> {
  const { api, field } = request;
  const params = { path: pathOf(request), header: { "If-Match": field("tag") } };
  await unwrap(api.PATCH("/admin/v1/groups/{groupId}", { params, body: { name: field("name") } }));
  return { to: groupAddress(request), done: "groupRenamed" };
}

export async function showDeletion(request: PageRequest): Promise<PageView> {
  const { api, t } = request;
  const params = { path: pathOf(request), query: { "dry-run": true } };
  const [{ record: group, tag }, changes] = await Promise.all([
    readGroup(request),
    unwrap(api.DELETE("/admin/v1/groups/{groupId}", { params })),
  ]);
  const model = { group, tag, base: groupAddress(request), changes: changes ?? [] };
  return { title: t("deletion.title"), view: "deletion", model };
}

export async function deleteGroup(request: PageRequest): Promise<Redirect> {
  const { api, field } = request;
  const tag = field("tag");
  const params = { path: pathOf(request), header: tag === "" ? {} : { "If-Match": tag } };
  await unwrap(api.DELETE("/admin/v1/groups/{groupId}", { params }));
  return { to: groupAddress(request), done: "groupDeleted" };
}

export async function restoreGroup(request: PageRequest): Promise<Redirect> {
  await unwrap(request.api.POST("/admin/v1/groups/{groupId}/restoration", { params: { path: pathOf(request) } }));
  return { to: groupAddress(request), done: "groupRestored" };
}
