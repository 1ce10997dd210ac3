import { makeArea, onlyIf } from "../frame/index.ts";
import { addAccount, deleteAccount, givePassword, listAccounts, showNewAccount } from "./accounts.ts";
import { findHolder, giveRole, showNewRole } from "./give.ts";
import { giveClassTeachers, listRoles, withdrawRole } from "./list.ts";

/** `/admin/schools/:schoolId/staff`, and `/admin/staff` of the whole service: who has which role, and accounts. */
export const staffPages = makeArea({ folder: import.meta.dirname, page: "staff" }, (pages) => {
  const places = { "/admin/schools/:schoolId/staff": "giveStaffRole", "/admin/staff": "createStaffPerson" } as const;
  for (const [staff, operation] of Object.entries(places)) {
    const newRole = onlyIf(operation, showNewRole);
    pages.get(staff, listRoles);
    pages.form(`${staff}/new`, giveRole, newRole);
    pages.post(`${staff}/new/search`, findHolder);
    pages.post(`${staff}/:staffRoleId/withdrawal`, withdrawRole, listRoles);
  }
  pages.post("/admin/schools/:schoolId/staff/class-teachers", giveClassTeachers, listRoles);
  const accounts = "/admin/staff/accounts";
  pages.get(accounts, listAccounts);
  pages.post(accounts, addAccount, onlyIf("createStaffPerson", showNewAccount));
  pages.get(`${accounts}/new`, onlyIf("createStaffPerson", showNewAccount));
  pages.post(`${accounts}/:personId/password`, givePassword, listAccounts);
  pages.post(`${accounts}/:personId/deletion`, deleteAccount, listAccounts);
});
