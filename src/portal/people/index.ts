import { makeArea, onlyIf, readDataRequest, readForm, redirectToSearch, requireFields } from "../frame/index.ts";
import { handDataAsJson, handDataAsPdf, showData } from "./data-request.ts";
import { addPerson, listPeople, readName, searchPeople, showEverywhere, showNewPerson } from "./list.ts";
import { givePassword, joinGroup, setLogin, showDisclosures, showPerson, showRetention, showUses } from "./person.ts";
import { changeSchool, confirmStep, showSchools, showStep } from "./leaving.ts";
import { people, person } from "./record.ts";
import { showSignIn } from "./sign-in.ts";

const member = "/admin/schools/:schoolId/classes/:groupId/members/:personId";

/** `/admin/schools/:schoolId/people`: the people of a school. */
export const peoplePages = makeArea({ folder: import.meta.dirname, page: "people" }, (pages) => {
  pages.get("/admin/people", onlyIf("listPeople", showEverywhere));
  pages.post("/admin/people/search", redirectToSearch("/admin/people"));
  pages.get(people, listPeople);
  pages.post(`${people}/search`, searchPeople);
  pages.get(`${people}/new`, onlyIf("createPerson", showNewPerson));
  pages.post(people, addPerson, onlyIf("createPerson", showNewPerson));
  const onPerson = { to: person, again: showPerson };
  pages.get(person, showPerson);
  pages.act(`${person}/block`, "blockPerson", { ...onPerson, done: "personBlocked" });
  pages.act(`${person}/unblock`, "unblockPerson", { ...onPerson, done: "personUnblocked" });
  pages.act(`${person}/restore`, "restorePerson", { ...onPerson, done: "personRestored" });
  pages.act(`${person}/release`, "releaseSignInLimits", { ...onPerson, done: "waitEnded" });
  pages.act(`${person}/details`, "updatePerson", {
    ...onPerson,
    fields: (request) => ({
      ...readForm(request, "updatePerson", ["role", ["sourceId", "sourceSystemIdentifier"]]),
      name: readName(request),
    }),
    done: "personChanged",
  });
  pages.act(`${person}/sign-out`, "signOutPerson", { ...onPerson, done: "personSignedOut" });
  pages.act(`${person}/password-request`, "requestPassword", {
    ...onPerson,
    fields: ({ path }) => ({ schoolId: path.schoolId }),
    done: "passwordRequested",
  });
  pages.act(`${person}/password-request/dismiss`, "withdrawPasswordRequests", {
    ...onPerson,
    done: "requestsDismissed",
  });
  pages.act(`${person}/second-factors`, "revokeSecondFactors", { ...onPerson, done: "factorsRemoved" });
  pages.act(`${person}/cards/:loginCardId/revoke`, "revokeLoginCard", { ...onPerson, done: "cardRevoked" });
  pages.act(`${person}/pictures/reset`, "revokePictureCode", { ...onPerson, done: "picturesReset" });
  pages.post(`${person}/login`, setLogin, showPerson);
  pages.post(`${person}/password`, givePassword, showPerson);
  pages.post(`${person}/groups`, joinGroup, showPerson);
  pages.act(`${person}/groups/:groupId/leave`, "deleteMembership", { ...onPerson, done: "groupLeft" });
  const onRetention = { to: `${person}/retention`, again: showRetention };
  pages.get(onRetention.to, showRetention);
  pages.act(`${person}/exemption`, "putRetentionExemption", {
    ...onRetention,
    fields: ["until", ["keptReason", "reason"]],
    done: "personKept",
  });
  pages.act(`${person}/exemption/end`, "withdrawRetentionExemption", { ...onRetention, done: "personNotKept" });
  for (const step of ["leave", "delete"] as const) {
    const show = onlyIf(step === "delete" ? "deletePerson" : "softDeletePerson", showStep(step));
    pages.form(`${person}/${step}`, confirmStep(step), show);
  }
  const onData = { to: `${person}/data`, again: showData };
  pages.get(onData.to, onlyIf("listDataRequests", showData));
  pages.act(`${person}/data/requests`, "createDataRequest", {
    ...onData,
    check: (request) => requireFields(request, "askedBy", "receivedOn"),
    fields: ["askedBy", "receivedOn"],
    done: "dataRequestRecorded",
  });
  pages.act(`${person}/data/requests/:dataRequestId`, "updateDataRequest", {
    ...onData,
    fields: readDataRequest,
    done: "dataRequestUpdated",
  });
  pages.post(`${person}/data/json`, handDataAsJson, onlyIf("getPersonData", showData));
  pages.post(`${person}/data/pdf`, handDataAsPdf, onlyIf("getPersonData", showData));
  for (const owner of [person, member]) pages.get(`${owner}/sign-in`, showSignIn);
  const onMember = { to: member, again: showSignIn };
  pages.act(`${member}/restore`, "restorePerson", { ...onMember, done: "personRestored" });
  pages.act(`${member}/unblock`, "unblockPerson", { ...onMember, done: "personUnblocked" });
  pages.act(`${member}/release`, "releaseSignInLimits", { ...onMember, done: "waitEnded" });
  const onUses = { to: `${person}/apps`, again: showUses };
  pages.get(onUses.to, showUses);
  pages.get(`${person}/disclosures`, showDisclosures);
  pages.act(`${person}/sessions/:sessionId/end`, "endSession", { ...onUses, done: "sessionEnded" });
  pages.act(`${person}/logins/:connectionId/end`, "revokeUpstreamLink", { ...onUses, done: "loginUnlinked" });
  pages.act(`${person}/consents/:clientId/withdraw`, "withdrawConsent", { ...onUses, done: "consentWithdrawn" });
  pages.form(`${person}/school`, changeSchool, onlyIf("movePerson", showSchools));
});
