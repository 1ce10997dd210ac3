/*
 * frame: what all pages of the portal share.
 *
 * Nouns:      visit (a request for a page by somebody who is signed in), area (a part of the portal with its own texts
 *             and templates), permissions (which operations the reader may call), refused (the admin API said no).
 * Invariants: a page does nothing by itself, it calls operations of the admin API as the person who is signed in; it
 *             asks for permissions, never for roles; a form is accepted only from one of our own pages; what was typed
 *             is never lost.
 */
export * from "./area.ts";
export * from "./calls.ts";
export * from "./data-requests.ts";
export * from "./describe.ts";
export * from "./differences.ts";
export * from "./csv.ts";
export * from "./disclosures.ts";
export * from "./figures.ts";
export * from "./form.ts";
export { renderForLink, type LinkRequest } from "./frame.ts";
export * from "./page-request.ts";
export * from "./people.ts";
export type { QrPath } from "./qr-path.ts";
export * from "./read-form.ts";
export * from "./upload.ts";
export * from "./zone.ts";
export type { SchoolPage } from "./navigation.ts";
