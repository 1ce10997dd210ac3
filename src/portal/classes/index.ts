import { makeArea, onlyIf, redirectToSearch, type PageRequest } from "../frame/index.ts";
import { openClassList, showClassList } from "./group.ts";
import { addGroup, classes, group, listClasses, showDeletion, showGroup, showNewGroup } from "./group.ts";
import { giveLogins, makeOneCard, printCards, revokeCards, showLogins, showOneCard } from "./logins.ts";
import { addMembers, member, showAddition, showMember } from "./group.ts";

const person = "/admin/schools/:schoolId/people/:personId";

/** `/admin/schools/:schoolId/classes`: classes and other groups, and the logins of their members. */
export const classesPages = makeArea({ folder: import.meta.dirname, page: "classes" }, (pages) => {
  const onClasses = pages.at(classes, listClasses);
  const showNew = onlyIf("createGroup", showNewGroup);
  onClasses.get("new", showNew);
  onClasses.post("", addGroup, showNew);
  const onGroup = pages.at(group, showGroup);
  onGroup.act("name", "updateGroup", "groupRenamed", { fields: ["name"] });
  onGroup.get("delete", onlyIf("deleteGroup", showDeletion));
  onGroup.act("delete", "deleteGroup", "groupDeleted");
  onGroup.act("restore", "restoreGroup", "groupRestored");
  const logins = onlyIf("createGroupPasswords", showLogins);
  onGroup.form("logins", giveLogins, logins);
  onGroup.post("cards", printCards, logins);
  onGroup.post("cards/revoke", revokeCards, logins);
  onGroup.form("class-list", openClassList, onlyIf("createClassList", showClassList));
  onGroup.act("class-list/end", "endClassList", "classListEnded");
  onGroup.form("add", addMembers, onlyIf("putMembership", showAddition));
  pages.post(`${group}/add/search`, redirectToSearch(`${group}/add`));
  const onMember = pages.at(member, showMember);
  onMember.act("role", "putMembership", "roleSet", { to: group, fields: ["role"] });
  onMember.act("cards/:loginCardId/revoke", "revokeLoginCard", "cardRevoked");
  onMember.act("pictures/reset", "revokePictureCode", "picturesReset");
  onMember.act("remove", "deleteMembership", "memberRemoved", { to: group });
  const fields = ({ path }: PageRequest) => ({ schoolId: path.schoolId });
  onMember.act("password-request", "requestPassword", "passwordRequested", { to: group, fields });
  for (const [owner, page] of [
    [member, "classes"],
    [person, "people"],
  ] as const) {
    const oneCard = pages.at(`${owner}/card`, onlyIf("createLoginCards", showOneCard), { page });
    oneCard.post("", makeOneCard);
    oneCard.post("pdf", printCards);
  }
});
