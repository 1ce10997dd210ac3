import { readLocale } from "../../../platform/pages/index.ts";
import { uuidPattern } from "../../../platform/crypto/ids.ts";
import type { ConnectionId, Destination, Start } from "../../../upstream/index.ts";
import type { Interaction } from "../../protocol/provider/library.ts";
import { keepSharing } from "../last-sign-in.ts";
import { fieldOf, type PageRequest, redirect, nameBrowser } from "../page-request.ts";
import { showFailure } from "./failure.ts";

/** Sends the browser to the login that the person chose, and keeps what they said about the device. */
export async function beginUpstream(
  request: PageRequest,
  { to, ...wishes }: { to: Destination } & Pick<Start, "maxAge" | "prompt" | "uiLocales">,
): Promise<void> {
  const { deps, req } = request;
  const connectionId = fieldOf(request, "connection") as ConnectionId;
  if (!uuidPattern.test(connectionId)) {
    return showFailure(request, { code: "CONNECTION_OFF", connectionId, schoolId: null }, to);
  }
  const isOthers = keepSharing(request, fieldOf(request, "shared") !== "") || "other" in req.query;
  const begun = await deps.upstream.begin({
    connectionId,
    browser: nameBrowser(request),
    address: req.ip ?? "",
    to,
    uiLocales: readLocale(req),
    ...(isOthers && { prompt: "choose" }),
    ...("again" in req.query && { prompt: "login" }),
    ...wishes,
  });
  if ("failure" in begun) return showFailure(request, begun.failure, to);
  redirect(request, begun.redirectTo.href);
}

/** What an app's request says about the login, without its `login_hint`, which says nothing to another login. */
export function wishesOf({ params }: Interaction): Pick<Start, "maxAge" | "prompt" | "uiLocales"> {
  const { prompt, max_age: maxAge, ui_locales: uiLocales } = params as Record<string, string | number | undefined>;
  return {
    ...(String(prompt ?? "")
      .split(" ")
      .includes("login") && { prompt: "login" as const }),
    ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
    ...(typeof uiLocales === "string" && { uiLocales }),
  };
}
