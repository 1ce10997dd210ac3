import { hintCookies } from "../protocol/typed-hint.ts";
import { appCookie } from "./interaction/way-to-app.ts";

/** The cookies of one sign-on of an app, each with its path: a browser may have several under way. */
export const cookiesOfOnePath: ReadonlySet<string> = new Set([
  "_interaction",
  "_interaction_resume",
  ...hintCookies,
  appCookie,
]);
