/*
 * sandbox: throw-away schools with invented people, in which the team of an app tries it. Its public API.
 *
 * Nouns:      sandbox (two schools of one app), account (an invented person with a login, and what happens when they
 *             sign in), step (one event of a school year, played in a sandbox).
 * Invariants: a sandbox is made and changed with the functions of directory and access, so that its events and webhooks
 *             are those of real schools; no real person comes to it and nobody of it to a real school; no other app
 *             sees it; a step is done once; a sandbox is gone after thirty days.
 * Never knows: HTTP, roles of the staff, how pages look.
 */
export { createSandbox, mostSandboxes } from "./create.ts";
export type { CreatedSandbox, SandboxLogin } from "./create.ts";
export { deleteSandbox, forgetAppWithSandboxes, makeSandboxSweep } from "./delete.ts";
export { getSandbox, listSandboxes } from "./find.ts";
export type { Sandbox, SandboxId, SandboxStep } from "./find.ts";
export { playSandbox } from "./play.ts";
export { sandboxSteps } from "./steps.ts";
export type { SandboxStepName } from "./steps.ts";
export type { AccountKind } from "./world.ts";
