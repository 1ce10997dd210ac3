/*
 * sign-on pages: the pages between an app's login button and its response.
 *
 * Nouns:      model (everything that a page shows, typed), page (status, html, headers).
 * Invariants: no page says whether an account exists; every form carries a token against forged requests.
 * Never knows: oidc-provider, the database, requests.
 */
export type * from "./models.ts";
export * from "./render.ts";
