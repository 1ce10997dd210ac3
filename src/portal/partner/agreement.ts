import type { AdminSchemas } from "../../admin/index.ts";
import { makeFile, refuseField, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { showAppPage, type App } from "./app-page.ts";

type Agreement = AdminSchemas["Agreement"];
type Input = AdminSchemas["AgreementInput"];

export async function showAgreement(request: PageRequest): Promise<PageView> {
  const [read, { items, more }] = await Promise.all([request.call("getApp"), request.list("listAgreements")]);
  const draft = items.find(({ state }) => state === "DRAFT") ?? null;
  const versions = items.filter(({ state }) => state === "PUBLISHED");
  const [current] = versions;
  const agreement =
    request.field("form") === "draft" ? readTyped(request, read) : inputOf(draft ?? current ?? null, draft);
  return showAppPage(request, "agreement", {
    app: read,
    draft,
    versions,
    shown: agreement,
    subprocessors: (agreement.subprocessors ?? []).map(({ name, country, purpose }) =>
      [name, country, purpose].join("; "),
    ),
    needs: [
      ...read.attributes.map((name) => needOf(agreement, "attribute", name)),
      ...read.scopes.map((name) => needOf(agreement, "scope", name)),
    ],
    more,
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

/** Reads the form, with the needs of the attributes and scopes that the app has now. */
function readTyped({ field, typed }: PageRequest, { attributes, scopes }: App): Input & { wrongLine?: number } {
  const lines = field("subprocessors").split("\n");
  const read = lines.filter((text) => text.trim() !== "").map((text) => line.exec(text));
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
    subprocessors: read
      .filter((parts) => parts !== null)
      .map(([, name, country, purpose]) => ({ name: name!, country: country!.toUpperCase(), purpose: purpose! })),
    attributes: attributes.map((attribute) => ({ attribute, ...needOfField(attribute) })).filter(isStated),
    scopes: scopes.map((scope) => ({ scope, ...needOfField(scope) })).filter(isStated),
    ...(wrong >= 0 && { wrongLine: wrong }),
  };
}

export async function writeDraft(request: PageRequest): Promise<Redirect> {
  const { wrongLine, ...body } = readTyped(request, await request.call("getApp"));
  if (wrongLine !== undefined) throw refuseField(`subprocessors/${wrongLine}`, "subprocessor_malformed");
  await request.call("putAgreementDraft", { body });
  return { to: request.base, done: "draftKept" };
}

export async function uploadPdf({ call, base, upload }: PageRequest): Promise<Redirect> {
  if (upload === null) throw refuseField("pdf", "pdf_missing");
  await call("putAgreementPdf", { body: upload.stream });
  return { to: base, done: "pdfKept" };
}

export const loadPdf = async ({ call }: PageRequest) => makeFile(await call("getAgreementPdf"), "agreement", "pdf");
