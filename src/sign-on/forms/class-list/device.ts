import { makeSealedCookie } from "../page-request.ts";

export const listCookieName = "_class_list";

/** The list of a lesson that was opened in this browser, without its names; the database says when it ends. */
export const listCookie = makeSealedCookie<{ id: string }>(listCookieName, {
  secret: "cardCookies",
  purpose: "class list",
  seconds: 7200,
});
