import type { AdminSchemas } from "../../admin/index.ts";
import { take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { findChoices, isSearch, readRole } from "./give.ts";
import { nameOf, staffOf } from "./place.ts";

const address = "/admin/staff/accounts";
const limit = 50;

/** The accounts of staff who are at no school. */
export async function listAccounts(visit: Visit): Promise<Shown> {
  const { api, query, t, me } = visit;
  const cursor = query("cursor");
  const asked = { limit, status: "ACTIVE" as const, ...(cursor !== "" && { cursor }) };
  const { items, next } = await takePage(api.GET("/admin/v1/staff-people", { params: { query: asked } }));
  const accounts = items.map((one) => ({
    ...one,
    fullName: one.name === null ? (one.username ?? nameOf(null, visit)) : nameOf(one.name, visit),
    isOwn: one.id === me.personId,
  }));
  const more = next === null ? null : `${address}?${new URLSearchParams({ cursor: next }).toString()}`;
  const model = { address, accounts, more };
  return { title: t("accounts.title"), view: "accounts", model, page: staffOf(visit).page };
}

export async function showNewAccount(visit: Visit): Promise<Shown> {
  const { t } = visit;
  const { given, page } = staffOf(visit);
  const model = { address, formAddress: address, given, ...(await findChoices(visit)) };
  return { title: t("accounts.new"), view: "new-account", model, page };
}

/** The one page on which a password stands. */
const showSecret = (visit: Visit, title: string, secret: AdminSchemas["LoginSecret"]): Shown => ({
  title: visit.t(title),
  view: "secret",
  model: { address, secret },
  page: staffOf(visit).page,
});

export async function addAccount(visit: Visit): Promise<Shown> {
  if (isSearch(visit)) return showNewAccount(visit);
  const { api, field, once } = visit;
  const first = field("firstCall");
  const name = { firstCall: first, firstFull: first, last: field("last") };
  const body = { name, username: field("username"), ...readRole(visit) };
  const params = { header: { "Idempotency-Key": once } };
  return showSecret(visit, "accounts.made", await take(api.POST("/admin/v1/staff-people", { params, body })));
}

export async function givePassword(visit: Visit): Promise<Shown> {
  const { api, part, once } = visit;
  const params = { path: { personId: part("personId") }, header: { "Idempotency-Key": once } };
  const secret = await take(api.POST("/admin/v1/people/{personId}/login/password", { params }));
  return showSecret(visit, "accounts.newPassword", secret);
}

export async function deleteAccount({ api, part }: Visit): Promise<Gone> {
  const params = { path: { personId: part("personId") } };
  await take(api.POST("/admin/v1/people/{personId}/soft-deletion", { params }));
  return { to: address, done: "accountDeleted" };
}
