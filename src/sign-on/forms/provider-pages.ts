import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import type { PersonId } from "../../directory/index.ts";
import { isDatabaseUnavailable } from "../../platform/database/db.ts";
import { addressInLanguage, type Page, type PageContext, readLocale } from "../../platform/pages/index.ts";
import { classListPath } from "../../accounts/index.ts";
import { listCookieName } from "./class-list/device.ts";
import { formTargetsOf } from "./page-request.ts";
import {
  renderErrorPage,
  renderFormPostPage,
  renderLoggedOutPage,
  renderLogoutConfirmPage,
  type ErrorModel,
  type WayToApp,
} from "./pages/index.ts";
import { requestIdOf } from "../protocol/provider/account.ts";
import { findUpstreamSession } from "../protocol/provider/make-provider.ts";
import type { ShowPages } from "../protocol/deps.ts";
import { presentError } from "../protocol/provider/answers.ts";

const jsonRoutes = new Set(["token", "userinfo", "jwks", "discovery", "revocation", "introspection"]);

export function makeShowPages(findPersonName: (personId: PersonId) => Promise<string | null>): ShowPages {
  return {
    async showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void> {
      if (jsonRoutes.has(ctx.oidc.route)) {
        ctx.body = presentError(ctx, out);
        return;
      }
      if (ctx.oidc.route === "resume" && ctx.req.headers.cookie === undefined) return leadToInteraction(ctx);
      const isAway = isDatabaseUnavailable(error);
      const status = isAway ? 503 : ctx.status >= 500 ? 500 : 400;
      const again = status >= 500 ? addressOf(ctx) : null;
      sendError(ctx, { status, reason: isAway ? "busy" : reasonOf(ctx, out, error), again });
    },

    showTooMany(ctx: KoaContextWithOIDC, retryAfterSeconds: number): void {
      for (const header of ["Location", "Set-Cookie"]) ctx.remove(header);
      sendError(ctx, { status: 429, reason: "busy", retryAfterSeconds, again: addressOf(ctx) });
    },

    showAnswered(ctx: KoaContextWithOIDC): void {
      ctx.remove("Set-Cookie");
      leadToInteraction(ctx);
    },

    async showLogoutConfirm(ctx: KoaContextWithOIDC, form: string): Promise<void> {
      const { session } = ctx.oidc;
      const backUri = ctx.oidc.params?.["post_logout_redirect_uri"];
      const personName = session?.accountId ? await findPersonName(session.accountId as PersonId) : null;
      // Without an app, signing out leads to a page of this service, unless over the login of the school.
      const isOwn = typeof backUri !== "string" && findUpstreamSession() === null;
      const formTargets = isOwn ? [] : formTargetsIn(ctx, backUri as string | undefined);
      send(ctx, renderLogoutConfirmPage({ app: appOf(ctx), personName, form }, { ...contextOf(ctx), formTargets }));
    },

    showFormPost(ctx: KoaContextWithOIDC, { redirectUri, parameters }): void {
      // Read again, the address of this page has no form any more.
      const context = { ...contextOf(ctx), languageUrl: null, formTargets: formTargetsIn(ctx, redirectUri) };
      const page = renderFormPostPage({ app: appOf(ctx), action: redirectUri, fields: parameters }, context);
      // Apps may check the Origin of the request, which would be `null` with the policy of other pages.
      send(ctx, { ...page, headers: { ...page.headers, "Referrer-Policy": "strict-origin" } });
    },

    async showLoggedOut(ctx: KoaContextWithOIDC): Promise<void> {
      if (ctx.cookies.get(listCookieName, { signed: false })) return ctx.redirect(classListPath);
      send(ctx, renderLoggedOutPage({ app: appOf(ctx), backUrl: null }, contextOf(ctx)));
    },
  };
}

function sendError(ctx: KoaContextWithOIDC, error: Omit<ErrorModel, "requestId" | "app">): void {
  send(ctx, renderErrorPage({ ...error, requestId: requestIdOf(ctx) ?? null, app: wayToApp(ctx) }, contextOf(ctx)));
}

/** Sends the browser to the page of the sign-on, which finds out whether it takes cookies and is signed in. */
function leadToInteraction(ctx: KoaContextWithOIDC): void {
  const { uid } = (ctx as { params?: { uid?: string } }).params ?? {};
  ctx.status = 303;
  ctx.redirect(`/interaction/${encodeURIComponent(uid ?? "")}`);
}

function reasonOf(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error) {
  if (out.error === "server_error") return "bug";
  if (out.error === "invalid_client") return "unknown_app";
  if (out.error === "invalid_redirect_uri") return "wrong_redirect";
  return ctx.oidc.route === "resume" || error.name === "SessionNotFound" ? "expired" : "invalid_request";
}

/** This page, or the page of the form. */
const addressOf = (ctx: KoaContextWithOIDC): string =>
  ctx.method === "GET" ? ctx.originalUrl : ctx.oidc.provider.pathFor("end_session");

const appOf = ({ oidc: { client } }: KoaContextWithOIDC) =>
  client ? { name: client.clientName ?? client.clientId } : null;

/** The first page of the app, if it is a website. */
function wayToApp(ctx: KoaContextWithOIDC): WayToApp | null {
  const app = appOf(ctx);
  const address = ctx.oidc.client?.redirectUris?.find((uri) => /^https?:/.test(uri));
  return app && address ? { ...app, url: `${new URL(address).origin}/` } : null;
}

const formTargetsIn = ({ oidc: { issuer, client } }: KoaContextWithOIDC, to?: string): string[] =>
  formTargetsOf({ issuerUrl: issuer, to, app: client });

function contextOf(ctx: KoaContextWithOIDC): PageContext {
  const uiLocales = ctx.oidc.params?.["ui_locales"];
  return {
    locale: readLocale(ctx.req, typeof uiLocales === "string" ? uiLocales : undefined),
    languageUrl: addressInLanguage(addressOf(ctx)),
  };
}

function send(ctx: KoaContextWithOIDC, page: Page): void {
  ctx.status = page.status;
  ctx.set(page.headers);
  ctx.body = page.html;
}
