import { Readable } from "node:stream";
import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, postAndRedirect, refuseField, unwrap, unwrapPage } from "../frame/index.ts";
import type { Download, PageRequest, PageView, Redirect } from "../frame/index.ts";
import { addressOf, readApp, showAppPage, type App } from "./app-page.ts";

type Agreement = AdminSchemas["Agreement"];
type Input = AdminSchemas["AgreementInput"];

const draftRoute = "/admin/v1/apps/{clientId}/agreement-draft";

const agreementAddress = (request: PageRequest): string => `${addressOf(request)}/agreement`;

export async function showAgreement(request: PageRequest): Promise<PageView> {
  const { api, path } = request;
  const query = { limit: 50, ...request.cursor };
  const [app, { items, more }] = await Promise.all([
    readApp(request),
    unwrapPage(api.GET("/admin/v1/apps/{clientId}/agreements", { params: { path, query } })),
  ]);
  const draft = items.find(({ state }) => state === "DRAFT") ?? null;
  const versions = items.filter(({ state }) => state === "PUBLISHED");
  const [current] = versions;
  const shown = request.field("form") === "draft" ? readTyped(request, app) : inputOf(draft ?? current ?? null, draft);
  return showAppPage(request, {
    app,
    page: "agreement",
    view: "agreement",
    model: {
      draft,
      versions,
      shown,
      subprocessors: (shown.subprocessors ?? []).map(({ name, country, purpose }) =>
        [name, country, purpose].join("; "),
      ),
      needs: [
        ...app.attributes.map((name) => needOf(shown, "attribute", name)),
        ...app.scopes.map((name) => needOf(shown, "scope", name)),
      ],
      more: more(agreementAddress(request)),
    },
  });
}

/** The draft, or what the next version begins with: what the current one says, under another name. */
function inputOf(from: Agreement | null, draft: Agreement | null): Input {
  if (from === null) return { version: "" };
  const { deletionPeriods, subprocessors, attributes, scopes } = from;
  return { version: draft?.version ?? "", text: from.text, deletionPeriods, subprocessors, attributes, scopes };
}

type Need = { isRequired: boolean; purpose: { de?: string | null; en?: string | null } };

/** `at` is where the need is in the input. */
function needOf({ attributes = [], scopes = [] }: Input, kind: "attribute" | "scope", name: string) {
  const needs: readonly (Need & { attribute?: string; scope?: string })[] = kind === "scope" ? scopes : attributes;
  const index = needs.findIndex((one) => one[kind] === name);
  const { isRequired = false, purpose = {} }: Partial<Need> = needs[index] ?? {};
  return { kind, name, isRequired, purpose, at: `${kind}s/${index}` };
}

const line = /^\s*(.+?)\s*;\s*([A-Za-z]{2})\s*;\s*(.+?)\s*$/;

/** Reads the form, with the needs of what the app has now. */
function readTyped({ field, typed }: PageRequest, { attributes, scopes }: App): Input & { wrongLine?: number } {
  const lines = field("subprocessors")
    .split("\n")
    .filter((text) => text.trim() !== "");
  const read = lines.map((text) => line.exec(text));
  const wrong = read.indexOf(null);
  const needOfField = (name: string): Need => ({
    isRequired: typed["required"]?.includes(name) === true,
    purpose: { de: field(`de-${name}`) || null, en: field(`en-${name}`) || null },
  });
  const isStated = ({ purpose: { de, en } }: Need) => de !== null || en !== null;
  return {
    version: field("version"),
    text: field("text") || null,
    deletionPeriods: { de: field("deletionDe") || null, en: field("deletionEn") || null },
    subprocessors: read.flatMap((found) =>
      found === null ? [] : [{ name: found[1]!, country: found[2]!.toUpperCase(), purpose: found[3]! }],
    ),
    attributes: attributes.map((attribute) => ({ attribute, ...needOfField(attribute) })).filter(isStated),
    scopes: scopes.map((scope) => ({ scope, ...needOfField(scope) })).filter(isStated),
    ...(wrong >= 0 && { wrongLine: wrong }),
  };
}

export async function writeDraft(request: PageRequest): Promise<Redirect> {
  const { wrongLine, ...body } = readTyped(request, await readApp(request));
  if (wrongLine !== undefined) throw refuseField(`subprocessors/${wrongLine}`, "subprocessor_malformed");
  const params = { path: request.path, header: ifMatch(request) };
  await unwrap(request.api.PUT(draftRoute, { params, body }));
  return { to: agreementAddress(request), done: "draftKept" };
}

export async function uploadPdf(request: PageRequest): Promise<Redirect> {
  const { api, path, upload } = request;
  if (upload === null) throw refuseField("pdf", "pdf_missing");
  await unwrap(
    api.PUT(`${draftRoute}/pdf`, {
      params: { path },
      // Streams the file; the contract's type for a file is a string.
      body: Readable.toWeb(upload.stream) as unknown as string,
      bodySerializer: (body: unknown) => body as ReadableStream,
      duplex: "half",
      headers: { "content-type": "application/octet-stream" },
    }),
  );
  return { to: agreementAddress(request), done: "pdfKept" };
}

export const publishDraft = postAndRedirect("agreementPublished", agreementAddress, ({ api, path }) =>
  api.POST(`${draftRoute}/publication`, { params: { path } }),
);

export const deleteDraft = postAndRedirect("draftDeleted", agreementAddress, ({ api, path }) =>
  api.DELETE(draftRoute, { params: { path } }),
);

export async function loadPdf({ api, param }: PageRequest): Promise<Download> {
  const path = { agreementId: param("agreementId") };
  const pdf = await unwrap(
    api.GET("/admin/v1/agreements/{agreementId}/pdf", { params: { path }, parseAs: "arrayBuffer" }),
  );
  return { file: Buffer.from(pdf as unknown as ArrayBuffer), type: "application/pdf", name: "agreement.pdf" };
}
