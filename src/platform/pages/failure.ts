import { shortCodeOf } from "../crypto/short-code.ts";
import { render, renderPage, translator, type Page, type PageContext } from "./layout.ts";

export type Failure = "not_found" | "invalid" | "unavailable" | "bug";

export function renderFailurePage(
  { failure, status, requestId }: { failure: Failure; status: number; requestId: string | undefined },
  context: PageContext,
): Page {
  const t = translator(context.locale);
  const body = render("failure", { failure, requestId, code: requestId && shortCodeOf(requestId), t });
  return renderPage({ title: t(`failure.${failure}.title`), body, status }, context);
}
