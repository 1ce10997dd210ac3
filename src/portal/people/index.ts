import { makeArea, onlyIf } from "../frame/index.ts";
import { confirmStep, showStep } from "./confirm.ts";
import { handDataAsJson, handDataAsPdf, recordRequest, showData, updateRequest } from "./data-request.ts";
import { showDisclosures } from "./disclosures.ts";
import { searchEverywhere, showEverywhere } from "./everywhere.ts";
import { addPerson, showNewPerson } from "./new-person.ts";
import { listPeople, searchPeople } from "./list.ts";
import { givePassword, setLogin } from "./logins.ts";
import { changeSchool, showSchools } from "./other-school.ts";
import * as actions from "./person-actions.ts";
import { showPerson } from "./person.ts";
import { endKeeping, keep, showRetention } from "./retention.ts";
import { showSignIn } from "./sign-in.ts";
import { endSession, showUses, unlink, withdrawConsent } from "./uses.ts";

const people = "/admin/schools/:schoolId/people";
const person = `${people}/:personId`;
const member = "/admin/schools/:schoolId/classes/:groupId/members/:personId";

/** `/admin/schools/:schoolId/people`: the people of a school. */
export const peoplePages = makeArea({ folder: import.meta.dirname, page: "people" }, (pages) => {
  pages.get("/admin/people", onlyIf("listPeople", showEverywhere));
  pages.post("/admin/people/search", searchEverywhere);
  pages.get(people, listPeople);
  pages.post(`${people}/search`, searchPeople);
  pages.get(`${people}/new`, onlyIf("createPerson", showNewPerson));
  pages.post(people, addPerson, onlyIf("createPerson", showNewPerson));
  pages.get(person, showPerson);
  pages.post(`${person}/block`, actions.block, showPerson);
  pages.post(`${person}/unblock`, actions.unblock, showPerson);
  pages.post(`${person}/restore`, actions.restore, showPerson);
  pages.get(`${person}/retention`, showRetention);
  pages.post(`${person}/exemption`, keep, showRetention);
  pages.post(`${person}/exemption/end`, endKeeping, showRetention);
  pages.post(`${person}/details`, actions.changeDetails, showPerson);
  pages.post(`${person}/sign-out`, actions.signOut, showPerson);
  pages.post(`${person}/password-request`, actions.askHomeSchool, showPerson);
  pages.post(`${person}/password-request/dismiss`, actions.dismissRequests, showPerson);
  pages.post(`${person}/second-factors`, actions.removeFactors, showPerson);
  pages.post(`${person}/cards/:cardId/revoke`, actions.revokeCard, showPerson);
  pages.post(`${person}/login`, setLogin, showPerson);
  pages.post(`${person}/password`, givePassword, showPerson);
  pages.post(`${person}/groups`, actions.joinGroup, showPerson);
  pages.post(`${person}/groups/:groupId/leave`, actions.leaveGroup, showPerson);
  for (const step of ["leave", "delete"] as const) {
    const show = onlyIf(step === "delete" ? "deletePerson" : "softDeletePerson", showStep(step));
    pages.get(`${person}/${step}`, show);
    pages.post(`${person}/${step}`, confirmStep(step), show);
  }
  pages.get(`${person}/data`, onlyIf("listDataRequests", showData));
  pages.post(`${person}/data/requests`, recordRequest, showData);
  pages.post(`${person}/data/requests/:dataRequestId`, updateRequest, showData);
  pages.post(`${person}/data/json`, handDataAsJson, onlyIf("getPersonData", showData));
  pages.post(`${person}/data/pdf`, handDataAsPdf, onlyIf("getPersonData", showData));
  pages.post(`${person}/release`, actions.release, showPerson);
  for (const owner of [person, member]) pages.get(`${owner}/sign-in`, showSignIn);
  for (const fix of ["restore", "unblock", "release"] as const)
    pages.post(`${member}/${fix}`, actions[fix], showSignIn);
  pages.get(`${person}/apps`, showUses);
  pages.get(`${person}/disclosures`, showDisclosures);
  pages.post(`${person}/sessions/:sessionId/end`, endSession, showUses);
  pages.post(`${person}/logins/:connectionId/end`, unlink, showUses);
  pages.post(`${person}/consents/:clientId/withdraw`, withdrawConsent, showUses);
  pages.form(`${person}/school`, changeSchool, onlyIf("movePerson", showSchools));
});
