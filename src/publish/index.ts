/*
 * publish: what partners build on.
 *
 * Nouns:      document (a contract as served, with this operator's name and addresses), reference page, guide,
 *             package (what partners install).
 * Invariants: a served document has no placeholder left; pages load nothing from another origin; everything here is
 *             public and the same for everybody.
 * Never knows: tokens, apps, people, the database.
 */
export { makeAppGuides, type AppGuides, type OwnValues } from "./app-guides.ts";
export { publishedPaths } from "./contents.ts";
export type { Changelog } from "./documents.ts";
export { fillPlatform } from "./fill.ts";
export { listErrors } from "./guides.ts";
export { readRuleSets } from "./rules.ts";
export { makePublishRouter } from "./router.ts";
export { makeWellKnown } from "./router.ts";
