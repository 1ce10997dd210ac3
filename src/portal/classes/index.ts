import { makeArea, onlyIf, redirectToSearch } from "../frame/index.ts";
import { openClassList, showClassList } from "./group.ts";
import { addGroup, classes, group, listClasses, showDeletion, showGroup, showNewGroup } from "./group.ts";
import { giveLogins, makeOneCard, printCards, revokeCards, showLogins, showOneCard } from "./logins.ts";
import { addMembers, member, showAddition, showMember } from "./group.ts";

const person = "/admin/schools/:schoolId/people/:personId";

/** `/admin/schools/:schoolId/classes`: classes and other groups, and the logins of their members. */
export const classesPages = makeArea({ folder: import.meta.dirname, page: "classes" }, (pages) => {
  pages.get(classes, listClasses);
  pages.get(`${classes}/new`, onlyIf("createGroup", showNewGroup));
  pages.post(classes, addGroup, onlyIf("createGroup", showNewGroup));
  const onGroup = { to: group, again: showGroup };
  pages.get(group, showGroup);
  pages.act(`${group}/name`, "updateGroup", { ...onGroup, fields: ["name"], done: "groupRenamed" });
  pages.get(`${group}/delete`, onlyIf("deleteGroup", showDeletion));
  pages.act(`${group}/delete`, "deleteGroup", { ...onGroup, done: "groupDeleted" });
  pages.act(`${group}/restore`, "restoreGroup", { ...onGroup, done: "groupRestored" });
  const logins = onlyIf("createGroupPasswords", showLogins);
  pages.form(`${group}/logins`, giveLogins, logins);
  pages.post(`${group}/cards`, printCards, logins);
  pages.post(`${group}/cards/revoke`, revokeCards, logins);
  pages.form(`${group}/class-list`, openClassList, onlyIf("createClassList", showClassList));
  pages.act(`${group}/class-list/end`, "endClassList", { ...onGroup, done: "classListEnded" });
  pages.form(`${group}/add`, addMembers, onlyIf("putMembership", showAddition));
  pages.post(`${group}/add/search`, redirectToSearch(`${group}/add`));
  const onMember = { to: group, again: showMember };
  pages.get(member, showMember);
  pages.act(`${member}/role`, "putMembership", { ...onMember, fields: ["role"], done: "roleSet" });
  pages.act(`${member}/cards/:loginCardId/revoke`, "revokeLoginCard", { ...onMember, to: member, done: "cardRevoked" });
  pages.act(`${member}/pictures/reset`, "revokePictureCode", { ...onMember, to: member, done: "picturesReset" });
  for (const owner of [member, person]) {
    const oneCard = onlyIf("createLoginCards", showOneCard);
    pages.form(`${owner}/card`, makeOneCard, oneCard);
    pages.post(`${owner}/card/pdf`, printCards, oneCard);
  }
  pages.act(`${member}/remove`, "deleteMembership", { ...onMember, done: "memberRemoved" });
  pages.act(`${member}/password-request`, "requestPassword", {
    ...onMember,
    fields: ({ path }) => ({ schoolId: path.schoolId }),
    done: "passwordRequested",
  });
});
