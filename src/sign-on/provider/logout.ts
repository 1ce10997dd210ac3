import { Provider } from "oidc-provider";
import { addLogoutNotice } from "../logout/notice.ts";
import type { ProviderDeps } from "./deps.ts";

/** Has the app told of the end of the session, once the end is committed. */
export function recordLogout({ clock, workOf }: ProviderDeps, notice: { clientId: string; personId: string; sid: string }): void {
  const { ctx } = Provider;
  if (!ctx) throw new Error("a logout happens in a request only");
  workOf(ctx).facts.push((tx) => addLogoutNotice(tx, { ...notice, at: clock() }));
}
