import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";

export type ShowPages = {
  showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void>;
  /** Refuses one more open interaction; nothing that the request had set remains. */
  showTooMany(ctx: KoaContextWithOIDC, retryAfterSeconds: number): void;
  showLogoutConfirm(ctx: KoaContextWithOIDC, form: string): Promise<void>;
  /** Shows the page whose form the browser posts to the app. */
  showFormPost(ctx: KoaContextWithOIDC, form: { redirectUri: string; parameters: Record<string, string> }): void;
  showLoggedOut(ctx: KoaContextWithOIDC): Promise<void>;
};
