import { explainSignature } from "../../../clients/tools/src/signature/index.ts";
import { requireFields, type PageView, type PageRequest } from "../frame/index.ts";
import { showAppPage } from "./app-page.ts";

const headerFields = {
  ep: "x-ep-signature-sha256",
  standard: "webhook-signature",
  id: "webhook-id",
  timestamp: "webhook-timestamp",
} as const;

/** Explains why a signature does not match. The secret is never stored or shown. */
export async function debugSignature(request: PageRequest): Promise<PageView> {
  requireFields(request, "secret");
  const { field, typed, now, locale } = request;
  const filled = Object.entries(headerFields).filter(([name]) => field(name) !== "");
  // A form turns every line end into CRLF.
  const body = Buffer.from((typed["body"]?.[0] ?? "").replaceAll("\r\n", "\n"));
  const headers = Object.fromEntries(filled.map(([name, header]) => [header, field(name)]));
  const report = explainSignature({ headers, body, secret: field("secret"), computed: field("computed"), now });
  return showSignature(request, { ...report, bytes: report.bodyBytes.toLocaleString(locale) });
}

export async function showSignature(request: PageRequest, report: object | null = null): Promise<PageView> {
  return showAppPage(request, {
    page: "webhooks",
    view: "signature",
    title: request.t("signature.title"),
    model: {
      report,
      fields: Object.keys(headerFields),
      headerOf: headerFields,
      body: request.typed["body"]?.[0] ?? "",
    },
  });
}
