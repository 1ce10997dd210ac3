import {
  actOn,
  makeArea,
  onlyIf,
  readDataRequest,
  redirectToSearch,
  requireFields,
  type PageRequest,
} from "../frame/index.ts";
import { handData, showData } from "./data-request.ts";
import { addPerson, listPeople, readDetails, searchPeople, showEverywhere, showNewPerson } from "./list.ts";
import { givePassword, joinGroup, setLogin, showDisclosures, showPerson, showRetention, showUses } from "./person.ts";
import { changeSchool, showSchools, showStep } from "./leaving.ts";
import { people, person } from "./record.ts";
import { showSignIn } from "./sign-in.ts";

const member = "/admin/schools/:schoolId/classes/:groupId/members/:personId";

/** `/admin/schools/:schoolId/people`: the people of a school. */
export const peoplePages = makeArea({ folder: import.meta.dirname, page: "people" }, (pages) => {
  pages.at("/admin/people", onlyIf("listPeople", showEverywhere), { page: "operator_people" });
  pages.post("/admin/people/search", redirectToSearch("/admin/people"));
  const onPeople = pages.at(people, listPeople);
  pages.post(`${people}/search`, searchPeople);
  const showNew = onlyIf("createPerson", showNewPerson);
  onPeople.get("new", showNew);
  onPeople.post("", addPerson, showNew);
  const onPerson = pages.at(person, showPerson);
  onPerson.act("block", "blockPerson", "personBlocked");
  onPerson.act("unblock", "unblockPerson", "personUnblocked");
  onPerson.act("restore", "restorePerson", "personRestored");
  onPerson.act("release", "releaseSignInLimits", "waitEnded");
  onPerson.act("details", "updatePerson", "personChanged", { fields: readDetails });
  onPerson.act("sign-out", "signOutPerson", "personSignedOut");
  const ofSchool = ({ path }: PageRequest) => ({ schoolId: path.schoolId });
  onPerson.act("password-request", "requestPassword", "passwordRequested", { fields: ofSchool });
  onPerson.act("password-request/dismiss", "withdrawPasswordRequests", "requestsDismissed");
  onPerson.act("second-factors", "revokeSecondFactors", "factorsRemoved");
  onPerson.act("cards/:loginCardId/revoke", "revokeLoginCard", "cardRevoked");
  onPerson.act("pictures/reset", "revokePictureCode", "picturesReset");
  onPerson.post("login", setLogin);
  onPerson.post("password", givePassword);
  onPerson.post("groups", joinGroup);
  onPerson.act("groups/:groupId/leave", "deleteMembership", "groupLeft");
  const onRetention = pages.at(`${person}/retention`, showRetention);
  const exemption = ["until", ["keptReason", "reason"]] as const;
  onRetention.act(`${person}/exemption`, "putRetentionExemption", "personKept", { fields: exemption });
  onRetention.act(`${person}/exemption/end`, "withdrawRetentionExemption", "personNotKept");
  onPerson.form("leave", actOn("softDeletePerson", "personLeft"), onlyIf("softDeletePerson", showStep("leave")));
  const remove = actOn("deletePerson", "personDeleted", { to: people });
  onPerson.form("delete", remove, onlyIf("deletePerson", showStep("delete")));
  const onData = pages.at(`${person}/data`, onlyIf("listDataRequests", showData));
  const needed = ["askedBy", "receivedOn"];
  onData.act("requests", "createDataRequest", "dataRequestRecorded", {
    check: (request) => requireFields(request, ...needed),
    fields: needed,
  });
  onData.act("requests/:dataRequestId", "updateDataRequest", "dataRequestUpdated", { fields: readDataRequest });
  onData.post("json", handData("json"), onlyIf("getPersonData", showData));
  onData.post("pdf", handData("pdf"), onlyIf("getPersonData", showData));
  pages.at(`${person}/sign-in`, showSignIn);
  const ofMember = pages.at(`${member}/sign-in`, showSignIn, { page: "classes" });
  const onMember = { to: member };
  ofMember.act(`${member}/restore`, "restorePerson", "personRestored", onMember);
  ofMember.act(`${member}/unblock`, "unblockPerson", "personUnblocked", onMember);
  ofMember.act(`${member}/release`, "releaseSignInLimits", "waitEnded", onMember);
  const onUses = pages.at(`${person}/apps`, showUses);
  onPerson.get("disclosures", showDisclosures);
  onUses.act(`${person}/sessions/:sessionId/end`, "endSession", "sessionEnded");
  onUses.act(`${person}/logins/:connectionId/end`, "revokeUpstreamLink", "loginUnlinked");
  onUses.act(`${person}/consents/:clientId/withdraw`, "withdrawConsent", "consentWithdrawn");
  onPerson.form("school", changeSchool, onlyIf("movePerson", showSchools));
});
