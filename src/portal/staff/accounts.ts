import type { AdminSchemas } from "../../admin/index.ts";
import { nameOf, postAndRedirect, unwrap, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { findChoices, isSearch, readRole } from "./give.ts";
import { staffOf } from "./staff-page.ts";

const address = "/admin/staff/accounts";
const limit = 50;

export async function listAccounts(request: PageRequest): Promise<PageView> {
  const { api, t, me } = request;
  const asked = { limit, status: "ACTIVE" as const, ...request.cursor };
  const { items, more } = await unwrapPage(api.GET("/admin/v1/staff-people", { params: { query: asked } }));
  const accounts = items.map((one) => ({
    ...one,
    fullName: one.name === null ? (one.username ?? nameOf({ name: null }, request)) : nameOf(one, request),
    isOwn: one.id === me.personId,
  }));
  const model = { address, accounts, more: more(address) };
  return { title: t("accounts.title"), view: "accounts", model, page: staffOf(request).page };
}

export async function showNewAccount(request: PageRequest): Promise<PageView> {
  const { t } = request;
  const { given, page } = staffOf(request);
  const model = { address, formAddress: address, given, ...(await findChoices(request)) };
  return { title: t("accounts.new"), view: "new-account", model, page };
}

const showSecret = (request: PageRequest, title: string, secret: AdminSchemas["LoginSecret"]): PageView => ({
  title: request.t(title),
  view: "secret",
  model: { address, secret },
  page: staffOf(request).page,
});

export async function addAccount(request: PageRequest): Promise<PageView> {
  if (isSearch(request)) return showNewAccount(request);
  const { api, field, idempotencyKey } = request;
  const first = field("firstCall");
  const name = { firstCall: first, firstFull: first, last: field("last") };
  const body = { name, username: field("username"), ...readRole(request) };
  const params = { header: { "Idempotency-Key": idempotencyKey } };
  return showSecret(request, "accounts.made", await unwrap(api.POST("/admin/v1/staff-people", { params, body })));
}

export async function givePassword(request: PageRequest): Promise<PageView> {
  const { api, path, idempotencyKey } = request;
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const secret = await unwrap(api.POST("/admin/v1/people/{personId}/login/password", { params }));
  return showSecret(request, "words.newPassword", secret);
}

export const deleteAccount = postAndRedirect(
  "accountDeleted",
  () => address,
  ({ api, path }) => api.POST("/admin/v1/people/{personId}/soft-deletion", { params: { path } }),
);
