/*
 * portal: the pages of the platform itself.
 *
 * Nouns: tile (an app the signed-in person may open).
 * Invariants: shows a person only the apps that `access` lets them sign in to; a tile's link carries an opaque
 *   hint made for that person and app.
 * Must never know: how sign-on works, tokens, sessions; it asks sign-on who is signed in.
 */
export { listTiles, makePortalRouter, type PortalOptions, type Tile } from "./tiles.ts";
