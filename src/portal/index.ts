/*
 * portal: the pages of the platform itself.
 *
 * Nouns: tile (an app the signed-in person may open), not-found page, failure page.
 * Invariants: shows a person only the apps that `access` lets them sign in to; a tile's link carries an opaque
 *   hint made for that person and app; what nobody else answers ends here, as a page or JSON by Accept.
 * Must never know: how sign-on works, tokens, sessions; who is signed in is told to it.
 */
export { makeLastAnswers } from "./last-answers.ts";
export { makePortalRouter, type PortalOptions } from "./tiles.ts";
