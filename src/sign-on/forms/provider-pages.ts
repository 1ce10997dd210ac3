import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import type { PersonId } from "../../directory/index.ts";
import { isDatabaseUnavailable } from "../../platform/database/db.ts";
import { addressInLanguage, formTarget, type Page, type PageContext, readLocale } from "../../platform/pages/index.ts";
import { renderErrorPage, renderLoggedOutPage, renderLogoutConfirmPage, type WayToApp } from "./pages/index.ts";
import { requestIdOf } from "../protocol/provider/account.ts";
import type { ShowPages } from "../protocol/provider/show-pages.ts";
import { presentError } from "../protocol/provider/answers.ts";

type Deps = { findPersonName(personId: PersonId): Promise<string | null> };

const jsonRoutes = new Set(["token", "userinfo", "jwks", "discovery", "revocation", "introspection"]);

/** The pages that the library shows by itself. */
export function makeShowPages({ findPersonName }: Deps): ShowPages {
  return {
    async showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void> {
      const isAway = isDatabaseUnavailable(error);
      if (jsonRoutes.has(ctx.oidc.route)) {
        ctx.body = presentError(out);
        return;
      }
      const status = isAway ? 503 : ctx.status >= 500 ? 500 : 400;
      send(
        ctx,
        renderErrorPage(
          {
            status,
            reason: isAway ? "busy" : reasonOf(ctx, out, error),
            requestId: requestIdOf(ctx) ?? null,
            app: wayToApp(ctx),
            again: status >= 500 ? addressOf(ctx) : null,
          },
          contextOf(ctx),
        ),
      );
    },

    /** Refuses to open one more interaction; nothing that the request had set stays. */
    showTooMany(ctx: KoaContextWithOIDC, retryAfterSeconds: number): void {
      for (const header of ["Location", "Set-Cookie"]) ctx.remove(header);
      send(
        ctx,
        renderErrorPage(
          {
            status: 429,
            reason: "busy",
            requestId: requestIdOf(ctx) ?? null,
            retryAfterSeconds,
            app: wayToApp(ctx),
            again: addressOf(ctx),
          },
          contextOf(ctx),
        ),
      );
    },

    async showLogoutConfirm(ctx: KoaContextWithOIDC, form: string): Promise<void> {
      const { client, session } = ctx.oidc;
      const backUri = ctx.oidc.params?.["post_logout_redirect_uri"];
      const personName = session?.accountId ? await findPersonName(session.accountId as PersonId) : null;
      const app = client ? { name: client.clientName ?? client.clientId } : null;
      const formTargets = typeof backUri === "string" ? [formTarget(backUri)] : [];
      send(ctx, renderLogoutConfirmPage({ app, personName, form }, { ...contextOf(ctx), formTargets }));
    },

    async showLoggedOut(ctx: KoaContextWithOIDC): Promise<void> {
      const { client } = ctx.oidc;
      const app = client ? { name: client.clientName ?? client.clientId } : null;
      send(ctx, renderLoggedOutPage({ app, backUrl: null }, contextOf(ctx)));
    },
  };
}

function reasonOf(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error) {
  if (ctx.req.headers.cookie === undefined && ctx.oidc.route === "resume") return "no_cookies";
  if (out.error === "server_error") return "bug";
  if (out.error === "invalid_client") return "unknown_app";
  if (out.error === "invalid_redirect_uri") return "wrong_redirect";
  return ctx.oidc.route === "resume" || error.name === "SessionNotFound" ? "expired" : "invalid_request";
}

/** This page; of an answer to a form, the page that asked. */
const addressOf = (ctx: KoaContextWithOIDC): string =>
  ctx.method === "GET" ? ctx.originalUrl : ctx.oidc.provider.pathFor("end_session");

/** The first page of the app, where it is a website. */
function wayToApp({ oidc: { client } }: KoaContextWithOIDC): WayToApp | null {
  const address = client?.redirectUris?.find((uri) => /^https?:/.test(uri));
  return client && address ? { name: client.clientName ?? client.clientId, url: `${new URL(address).origin}/` } : null;
}

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
