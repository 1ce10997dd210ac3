/*
 * frame: what all pages of the portal share.
 *
 * Nouns:      visit (a request for a page by somebody who is signed in), area (a part of the portal with its own texts
 *             and templates), permissions (which operations the reader may call), refused (the admin API said no).
 * Invariants: a page does nothing by itself, it calls operations of the admin API as the person who is signed in; it
 *             asks for permissions, never for roles; a form is accepted only from one of our own pages; what was typed
 *             is never lost.
 */
export {
  makeArea,
  type Area,
  type Redirect,
  type Download,
  type Pages,
  type InlineImage,
  type PageHandler,
  type PageView,
} from "./area.ts";
export { describeAction } from "./action.ts";
export { describeReads } from "./app-reads.ts";
export { attributeNames } from "./attributes.ts";
export { readChoice } from "./choice.ts";
export { makeChoices, mostChoices, nameSchoolingLevels, readChosen, searchOf, type Choices } from "./choices.ts";
export { listProposedTeachers } from "./class-teachers.ts";
export { describeDisclosures, type DisclosureTexts } from "./disclosures.ts";
export { describeDataRequest, updateDataRequest, viewDataRequest } from "./data-requests.ts";
export { fieldOf, isFromOtherSite, isOwnForm, makeFormToken, readTyped, type Typed } from "./form.ts";
export { renderForLink, type LinkRequest } from "./frame.ts";
export { makeTimes, readZone } from "./zone.ts";
export { addFrameTexts, requestIdOf } from "./area.ts";
export { compareLine, type Difference, type Names } from "./differences.ts";
export { findHasCards, listLoginCards, revokeLoginCard } from "./login-cards.ts";
export { isMemberPage, listMembers, personAddress, readMember, requestPassword } from "./member.ts";
export { findSchoolLogo, schoolLogoAddress } from "./school-logo.ts";
export { figureRanges, readPlots } from "./figures.ts";
export { askedBy, leavingOf } from "./leaving.ts";
export { drawQrPaths } from "./qr-codes.ts";
export type { QrPath } from "./qr-path.ts";
export { listGroups, onlyClasses } from "./groups.ts";
export { listMySchools } from "./my-schools.ts";
export { onlyIf } from "./only-if.ts";
export { aboutOf, nameOf } from "./person-name.ts";
export { ifMatch, postAndRedirect, redirectToSearch } from "./post-and-redirect.ts";
export {
  Refused,
  refuseField,
  requireFields,
  unwrap,
  unwrapIfFound,
  unwrapPage,
  unwrapRecord,
  unwrapUnlessDone,
} from "./refused.ts";
export { readImageUpload } from "./upload.ts";
export { hasManySchools, type FrameDeps, type PageRequest } from "./page-request.ts";
export type { SchoolPage } from "./navigation.ts";
