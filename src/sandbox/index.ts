/*
 * sandbox: temporary schools with invented people, in which a partner tests an app. Its public API.
 *
 * Nouns:      sandbox (two schools of one app), account (an invented person with a login), step (one event of a school
 *             year, played in a sandbox).
 * Invariants: sandboxes change through directory and access, so that events and webhooks are those of real schools; no
 *             person is both at a sandbox and at a real school; no other app sees it; a step is played at most once; a
 *             sandbox lasts thirty days.
 * Never knows: HTTP, roles of the staff, pages.
 */
export { createSandbox, type CreatedSandbox } from "./create.ts";
export { deleteSandbox, forgetAppWithSandboxes, makeSandboxSweep } from "./delete.ts";
export { getSandbox, listSandboxes, type Sandbox } from "./find.ts";
export { playSandbox } from "./play.ts";
