/*
 * staff: who runs schools, apps and the service, and for which of them. Its public API.
 *
 * Nouns:      staff role (what its holder may do, and for which schools or apps), holder (a person, or an app for
 *             automation), reach (the schools and apps of some roles together).
 * Invariants: a role is held by a person or by an app; an operator's is for everything, a partner's for apps, all
 *             others for schools; support ends and has a reason; nobody gives a role that reaches further than theirs;
 *             the last operator keeps the role; the command line can always give one.
 * Never knows: HTTP, tokens, operations of a contract.
 */
export * from "./class-teachers.ts";
export * from "./find-roles.ts";
export * from "./give-role.ts";
export * from "./role.ts";
export { listHigherHolders, refuseHigherHolder, type Covered } from "./higher-holder.ts";
export * from "./reach.ts";
