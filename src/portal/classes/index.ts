import { makeArea, onlyIf } from "../frame/index.ts";
import { addGroup, deleteGroup, rename, restoreGroup, showDeletion, showNewGroup } from "./group-actions.ts";
import { showGroup } from "./group.ts";
import { listClasses } from "./list.ts";
import { giveLogins, printCards, revokeCards, showLogins } from "./logins.ts";
import { makeOneCard, showOneCard } from "./one-card.ts";
import * as members from "./members.ts";

const classes = "/admin/schools/:schoolId/classes";
const group = `${classes}/:groupId`;
const member = `${group}/members/:personId`;
const person = "/admin/schools/:schoolId/people/:personId";

/** `/admin/schools/:schoolId/classes`: classes and other groups, and the logins of their members. */
export const classesPages = makeArea({ folder: import.meta.dirname, page: "classes" }, (pages) => {
  pages.get(classes, listClasses);
  pages.get(`${classes}/new`, onlyIf("createGroup", showNewGroup));
  pages.post(classes, addGroup, onlyIf("createGroup", showNewGroup));
  pages.get(group, showGroup);
  pages.post(`${group}/name`, rename, showGroup);
  pages.get(`${group}/delete`, onlyIf("deleteGroup", showDeletion));
  pages.post(`${group}/delete`, deleteGroup, showGroup);
  pages.post(`${group}/restore`, restoreGroup, showGroup);
  pages.form(`${group}/logins`, giveLogins, onlyIf("createGroupPasswords", showLogins));
  pages.post(`${group}/cards`, printCards, onlyIf("createGroupPasswords", showLogins));
  pages.post(`${group}/cards/revoke`, revokeCards, onlyIf("createGroupPasswords", showLogins));
  pages.form(`${group}/add`, members.addMembers, onlyIf("putMembership", members.showAddition));
  pages.post(`${group}/add/search`, members.searchPeople);
  pages.get(member, members.showMember);
  pages.post(`${member}/role`, members.setRole, members.showMember);
  pages.post(`${member}/cards/:cardId/revoke`, members.revokeCard, members.showMember);
  for (const owner of [member, person]) {
    pages.form(`${owner}/card`, makeOneCard, onlyIf("createLoginCards", showOneCard));
    pages.post(`${owner}/card/pdf`, printCards, onlyIf("createLoginCards", showOneCard));
  }
  pages.post(`${member}/remove`, members.removeMember, members.showMember);
  pages.post(`${member}/password-request`, members.askHomeSchool, members.showMember);
});
