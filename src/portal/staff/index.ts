import { makeArea, onlyIf, redirectToSearch } from "../frame/index.ts";
import { addAccount, givePassword, listAccounts, showNewAccount } from "./accounts.ts";
import { giveRole, showNewRole } from "./give.ts";
import { giveClassTeachers, listRoles } from "./list.ts";

/** `/admin/schools/:schoolId/staff`, and `/admin/staff` of the whole service: who has which role, and accounts. */
export const staffPages = makeArea({ folder: import.meta.dirname, page: "staff" }, (pages) => {
  const places = { "/admin/schools/:schoolId/staff": "giveStaffRole", "/admin/staff": "createStaffPerson" } as const;
  for (const [staff, operation] of Object.entries(places)) {
    pages.get(staff, listRoles);
    pages.form(`${staff}/new`, giveRole, onlyIf(operation, showNewRole));
    pages.post(`${staff}/new/search`, redirectToSearch(`${staff}/new`));
    pages.act(`${staff}/:staffRoleId/withdrawal`, "withdrawStaffRole", {
      to: staff,
      done: "roleWithdrawn",
      repeated: "staff_role_not_found",
      again: listRoles,
    });
  }
  pages.post("/admin/schools/:schoolId/staff/class-teachers", giveClassTeachers, listRoles);
  const accounts = "/admin/staff/accounts";
  pages.get(accounts, listAccounts);
  pages.post(accounts, addAccount, onlyIf("createStaffPerson", showNewAccount));
  pages.get(`${accounts}/new`, onlyIf("createStaffPerson", showNewAccount));
  pages.post(`${accounts}/:personId/password`, givePassword, listAccounts);
  pages.act(`${accounts}/:personId/deletion`, "softDeletePerson", {
    to: accounts,
    done: "accountDeleted",
    again: listAccounts,
  });
});
