import type { AdminSchemas } from "../../admin/index.ts";
import { findHasCards, listGroups, onlyClasses, readChoice, refuseField, unwrap, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";

type Role = AdminSchemas["SchoolRole"];

const roles: readonly Role[] = ["STUDENT", "TEACHER", "OTHER"];
const kinds = ["passwords", "cards", "both", "letters"] as const;

export const listAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/credentials`;

export async function showStart(request: PageRequest): Promise<PageView> {
  const { api, path, t, typed, field } = request;
  const [groups, hasCards, batches] = await Promise.all([
    listGroups(request),
    findHasCards(request),
    unwrapPage(api.GET("/admin/v1/schools/{schoolId}/credential-batches", { params: { path } })),
  ]);
  const model = {
    base: listAddress(request),
    groups: onlyClasses(groups).filter(({ members }) => members > 0),
    batches: batches.items,
    kinds: hasCards ? kinds : (["passwords", "letters"] as const),
    hasCards,
    mayWrite: request.may("putParentLetter"),
    roles: request.may("createSchoolPasswords") ? roles : [],
    chosen: {
      kind: field("kind") || "passwords",
      letters: field("letters") === "yes",
      whom: field("whom") || "all",
      roles: typed["role"] ?? ["STUDENT"],
      groups: typed["group"] ?? [],
      everybody: field("everybody") === "yes",
    },
  };
  return { title: t("start.title"), view: "start", model };
}

export async function startBatch(request: PageRequest): Promise<Redirect> {
  const { api, path, typed, field, idempotencyKey } = request;
  const kind = kinds.find((one) => one === field("kind")) ?? "passwords";
  const groupIds = [...(typed["group"] ?? [])];
  const chosen = roles.filter((role) => typed["role"]?.includes(role));
  const selected = field("whom") === "groups" ? "groups" : "all";
  const isForGroups = readChoice(request, "whom", { selected, boxes: { groups: "group" } }) === "groups";
  if (isForGroups && groupIds.length === 0) throw refuseField("groupIds", "groups_missing");
  if (!isForGroups && typed["role"] !== undefined && chosen.length === 0) throw refuseField("roles", "roles_missing");
  const whom = isForGroups ? { groupIds } : chosen.length === 0 ? {} : { roles: chosen };
  const wishes = {
    newPasswords: kind === "passwords" || kind === "both",
    withQr: kind === "cards" || kind === "both",
    withLetters: kind === "letters" || field("letters") === "yes",
  };
  const body = { ...whom, ...wishes, onlyMissing: field("everybody") !== "yes" };
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const { id } = await unwrap(api.POST("/admin/v1/schools/{schoolId}/credential-batches", { params, body }));
  return { to: `${listAddress(request)}/${id}` };
}
