import { enumOf } from "../../platform/contract-texts.ts";
import { attributeNames, type PageRequest } from "../frame/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";
import { showAppPage } from "./app-page.ts";

export const listScopes = () => enumOf<AdminSchemas["AppScope"]>("createApp", "scopes");

export const scopesOf =
  ({ t }: PageRequest) =>
  (names: readonly string[]) =>
    names.map((id) => ({ id, name: t(`scope.${id.replace(":", "_")}`), code: id }));

export async function showScopes(request: PageRequest) {
  const { list, getRecord, path } = request;
  const [{ record, tag }, { items, more }] = await Promise.all([
    getRecord("getApp"),
    list("listScopeRequests", { query: { app: path.clientId } }),
  ]);
  return showAppPage(request, "scopes", {
    app: record,
    tag,
    requests: items,
    scopes: listScopes(),
    scopesOf: scopesOf(request),
    attributes: attributeNames,
    missing: listScopes().filter((scope) => !record.scopes.includes(scope) && !scope.startsWith("admin:")),
    waits: items.some(({ state }) => state === "REQUESTED"),
    more,
  });
}

const dayInSeconds = 86_400;
/** Days for which the present secret stays valid; 0 for a leaked one. */
const overlaps = [0, 1, 7, 30, 90] as const;

export async function showSecret(request: PageRequest, made: AdminSchemas["AppCredentials"] | null = null) {
  const chosen = made === null ? Number(request.field("days") || 1) : 1;
  return showAppPage(request, "secret", { overlaps, made, chosen });
}

export async function rotateSecret(request: PageRequest) {
  const body = { keepOldSeconds: Number(request.field("days") || 1) * dayInSeconds };
  return showSecret(request, await request.call("rotateSecret", { body }));
}
