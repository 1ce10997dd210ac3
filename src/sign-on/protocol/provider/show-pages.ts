import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";

/** The pages that the library shows by itself. */
export type ShowPages = {
  showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void>;
  /** Refuses to open one more interaction; nothing that the request had set stays. */
  showTooMany(ctx: KoaContextWithOIDC, retryAfterSeconds: number): void;
  showLogoutConfirm(ctx: KoaContextWithOIDC, form: string): Promise<void>;
  showLoggedOut(ctx: KoaContextWithOIDC): Promise<void>;
};
