import type { KoaContextWithOIDC } from "oidc-provider";
import { beforeChange, getRequest } from "../storage/request.ts";
import { notify, recordLogout } from "../storage/unit-of-work.ts";
import { requestIdOf } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";

/** Notifies the app once the end of the session is committed. */
export function notifyOfLogout({ clock }: ProviderDeps, notice: { clientId: string; personId: string }): void {
  const request = getRequest();
  request.work = notify(beforeChange(request), { ...notice, sid: request.session!.uid, at: clock() });
}

export function auditLogout({ clock }: ProviderDeps, ctx: KoaContextWithOIDC): void {
  const request = getRequest();
  const { work, session } = request;
  if (work.state !== "changing" || work.session.kind !== "ended" || !session?.personId) return;
  request.work = recordLogout(work, {
    at: clock(),
    personId: session.personId,
    clientId: ctx.oidc.client?.clientId,
    requestId: requestIdOf(ctx),
  });
}
