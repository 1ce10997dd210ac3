import { makeArea, onlyIf, type Visit } from "../frame/index.ts";
import { addAccount, deleteAccount, givePassword, listAccounts, showNewAccount } from "./accounts.ts";
import { findHolder, giveRole, showNewRole } from "./give.ts";
import { listRoles, withdrawRole } from "./list.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { staffOf } from "./place.ts";

const mayGive = (visit: Visit): boolean => staffOf(visit).given.length > 0;

/** `/admin/schools/:schoolId/staff`, and `/admin/staff` of the whole service: who has which role, and accounts. */
export const staffPages = makeArea({ folder: import.meta.dirname, texts: { de: german, en: english } }, (pages) => {
  for (const staff of ["/admin/schools/:schoolId/staff", "/admin/staff"]) {
    pages.get(staff, listRoles);
    pages.get(`${staff}/new`, onlyIf(mayGive, showNewRole));
    pages.post(`${staff}/new/search`, findHolder);
    pages.post(`${staff}/new`, giveRole, onlyIf(mayGive, showNewRole));
    pages.post(`${staff}/:staffRoleId/withdrawal`, withdrawRole, listRoles);
  }
  const accounts = "/admin/staff/accounts";
  pages.get(accounts, listAccounts);
  pages.post(accounts, addAccount, onlyIf(mayGive, showNewAccount));
  pages.get(`${accounts}/new`, onlyIf(mayGive, showNewAccount));
  pages.post(`${accounts}/:personId/password`, givePassword, listAccounts);
  pages.post(`${accounts}/:personId/deletion`, deleteAccount, listAccounts);
});
