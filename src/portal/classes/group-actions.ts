import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, postAndRedirect, unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { groupAddress, listAddress, readGroup } from "./group-record.ts";

type Kind = AdminSchemas["GroupInput"]["type"];

const at = "/admin/v1/groups/{groupId}";

export const showNewGroup = (request: PageRequest): Promise<PageView> =>
  Promise.resolve({
    title: request.t("classes.add"),
    view: "new",
    model: { base: listAddress(request) },
  });

export async function addGroup(request: PageRequest): Promise<Redirect> {
  const { api, field, path, idempotencyKey } = request;
  const body = { schoolId: path.schoolId, name: field("name"), type: field("type") as Kind };
  const made = await unwrap(
    api.POST("/admin/v1/groups", { params: { header: { "Idempotency-Key": idempotencyKey } }, body }),
  );
  return { to: `${listAddress(request)}/${made.id}`, done: "groupAdded" };
}

export const rename = postAndRedirect("groupRenamed", groupAddress, ({ api, path, field }) =>
  api.PATCH(at, { params: { path, header: { "If-Match": field("tag") } }, body: { name: field("name") } }),
);

export async function showDeletion(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const [{ record: group, tag }, changes] = await Promise.all([
    readGroup(request),
    unwrap(api.DELETE(at, { params: { path, query: { "dry-run": true } } })),
  ]);
  const model = { group, tag, base: groupAddress(request), changes: changes ?? [] };
  return { title: t("deletion.title"), view: "deletion", model };
}

export const deleteGroup = postAndRedirect("groupDeleted", groupAddress, (request) =>
  request.api.DELETE(at, { params: { path: request.path, header: ifMatch(request) } }),
);

export const restoreGroup = postAndRedirect("groupRestored", groupAddress, ({ api, path }) =>
  api.POST(`${at}/restoration`, { params: { path } }),
);
