import { signInPath } from "../platform-page.ts";

export const upstreamPath = "/upstream";
/** The link of a school, for its website and the QR code on its wall. */
export const schoolLinkPath = "/s";
export const schoolSearchPath = `${signInPath}/school`;
export const chosenSchoolPath = `${schoolSearchPath}/chosen`;
/** The buttons of the sign-in page without an app are posted to it. */
export const beginPath = `${signInPath}/upstream`;
/** The pages on which the IT contact of a school sets a connection up, by the id of the set-up link. */
export const setUpLinkPath = "/set-up/links";
