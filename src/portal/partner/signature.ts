import { explainSignature } from "../../platform/advice/signature/index.ts";
import type { Shown, Visit } from "../frame/index.ts";
import { readApp, showAppPage } from "./place.ts";

const headerFields = {
  ep: "x-ep-signature-sha256",
  standard: "webhook-signature",
  id: "webhook-id",
  timestamp: "webhook-timestamp",
} as const;

export const showSignature = (visit: Visit): Promise<Shown> => show(visit, null);

/** Explains why a signature does not fit. The secret is kept nowhere and stands on no page. */
export async function debugSignature(visit: Visit): Promise<Shown> {
  const { field, typed, now, locale } = visit;
  const filled = Object.entries(headerFields).filter(([name]) => field(name) !== "");
  // A form makes every line end of a text to CRLF.
  const body = Buffer.from((typed["body"]?.[0] ?? "").replaceAll("\r\n", "\n"));
  const headers = Object.fromEntries(filled.map(([name, header]) => [header, field(name)]));
  const report = explainSignature({ headers, body, secret: field("secret"), computed: field("computed"), now });
  return show(visit, { ...report, bytes: report.bodyBytes.toLocaleString(locale) });
}

async function show(visit: Visit, report: object | null): Promise<Shown> {
  return showAppPage(visit, {
    app: await readApp(visit),
    page: "webhooks",
    view: "signature",
    title: visit.t("signature.title"),
    model: { report, fields: Object.keys(headerFields), headerOf: headerFields, body: visit.typed["body"]?.[0] ?? "" },
  });
}
