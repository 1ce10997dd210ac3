import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { makeAuditStatement } from "../../events/index.ts";
import { makeNoticeStatement } from "../logout/notice.ts";
import { requestIdOf } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";

/** Has the app told of the end of the session, once the end is committed. */
export function recordLogout(
  { clock, workOf }: ProviderDeps,
  notice: { clientId: string; personId: string; sid: string },
): void {
  const { ctx } = Provider;
  if (!ctx) throw new Error("a logout happens in a request only");
  workOf(ctx).facts.push(makeNoticeStatement({ ...notice, at: clock() }));
}

/** Records the end of a session together with it. */
export function auditLogout({ clock, workOf }: ProviderDeps, ctx: KoaContextWithOIDC): void {
  const work = workOf(ctx);
  const personId = work.session?.personId;
  if (!work.sessionEnds || !personId) return;
  const line = {
    at: clock(),
    action: "logged_out",
    personId,
    clientId: ctx.oidc.client?.clientId,
    requestId: requestIdOf(ctx),
  };
  work.facts.push(makeAuditStatement(line));
}
