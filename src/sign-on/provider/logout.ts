import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { recordAudit } from "../../events/index.ts";
import { addLogoutNotice } from "../logout/notice.ts";
import { requestIdOf } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";

/** Has the app told of the end of the session, once the end is committed. */
export function recordLogout({ clock, workOf }: ProviderDeps, notice: { clientId: string; personId: string; sid: string }): void {
  const { ctx } = Provider;
  if (!ctx) throw new Error("a logout happens in a request only");
  workOf(ctx).facts.push((tx) => addLogoutNotice(tx, { ...notice, at: clock() }));
}

/** Records the end of a session in the transaction that ends it. */
export function auditLogout({ clock, workOf }: ProviderDeps, ctx: KoaContextWithOIDC): void {
  const work = workOf(ctx);
  const personId = work.session?.personId;
  if (!work.sessionEnds || !personId) return;
  const line = { at: clock(), action: "logged_out", personId, clientId: ctx.oidc.client?.clientId, requestId: requestIdOf(ctx) };
  work.facts.push((tx) => recordAudit(tx, line));
}
