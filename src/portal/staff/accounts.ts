import type { AdminSchemas } from "../../admin/index.ts";
import { nameOf, type PageRequest, type PageView } from "../frame/index.ts";
import { findChoices, isSearch, readRole, staffOf } from "./give.ts";

const address = "/admin/staff/accounts";

export async function listAccounts(request: PageRequest): Promise<PageView> {
  const { list, t, me } = request;
  const { items, more } = await list("listStaffPeople", { query: { status: "ACTIVE" } });
  const accounts = items.map((one) => ({
    ...one,
    fullName: one.name === null ? (one.username ?? nameOf({ name: null }, request)) : nameOf(one, request),
    isOwn: one.id === me.personId,
  }));
  const model = { address, accounts, more: more(address) };
  return { title: t("accounts.title"), view: "accounts", model, page: staffOf(request).page };
}

export async function showNewAccount(request: PageRequest): Promise<PageView> {
  const { given, page } = staffOf(request);
  const model = { address, formAddress: address, given, ...(await findChoices(request)) };
  return { title: request.t("accounts.new"), view: "new-account", model, page };
}

const showSecret = (request: PageRequest, title: string, secret: AdminSchemas["LoginSecret"]): PageView => ({
  title: request.t(title),
  view: "secret",
  model: { address, secret },
  page: staffOf(request).page,
});

export async function addAccount(request: PageRequest): Promise<PageView> {
  if (isSearch(request)) return showNewAccount(request);
  const { call, field } = request;
  const first = field("firstCall");
  const name = { firstCall: first, firstFull: first, last: field("last") };
  const body = { name, username: field("username"), ...readRole(request) };
  return showSecret(request, "accounts.made", await call("createStaffPerson", { body }));
}

export const givePassword = async (request: PageRequest): Promise<PageView> =>
  showSecret(request, "words.newPassword", await request.call("newPassword"));
