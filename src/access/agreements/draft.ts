import { hash } from "node:crypto";
import { checkLines, checkName, checkText } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { checkLimit } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { findPdfFault } from "../../platform/text/pdf-faults.ts";
import { getLockedApp, type App } from "../apps/find.ts";
import { findProfile } from "../apps/profile.ts";
import type { AppAttribute } from "../attributes.ts";
import type { ClientId, ScopeName } from "../token.ts";
import { findDraft, type Agreement } from "./agreement.ts";

type LanguageTexts = { [Language in "de" | "en"]?: string | null | undefined };

type Need = { isRequired: boolean; purpose: LanguageTexts };

export type DraftInput = {
  version: string;
  /** Without a text, a PDF that was uploaded stays. */
  text?: string | null | undefined;
  deletionPeriods?: LanguageTexts | undefined;
  subprocessors?: readonly { name: string; country: string; purpose: string }[] | undefined;
  attributes?: readonly (Need & { attribute: AppAttribute })[] | undefined;
  scopes?: readonly (Need & { scope: ScopeName })[] | undefined;
};

const mostVersions = 100;
const mostOfText = 60_000;
const mostOfPurpose = 2000;
const mostOfPdf = 5 * 2 ** 20;

const refuse = (reason: string) => new AppError("invalid", "agreement_refused", `The agreement was refused. ${reason}`);
const conflict = (code: string, message: string) => new AppError("conflict", code, message);
/** Locks the app while its draft changes. Errors: not_found app_not_found, agreement_draft_not_found. */
async function lockDraft(tx: Transaction, clientId: ClientId): Promise<{ app: App; draft: Agreement }> {
  const app = await getLockedApp(tx, clientId);
  const draft = await findDraft(tx, clientId);
  if (draft === null)
    throw new AppError("not_found", "agreement_draft_not_found", "The app has no draft of an agreement.");
  return { app, draft };
}

const linesOf = (field: string, text: string | null | undefined, most: number): string | null =>
  text === null || text === undefined ? null : checkLines(field, text, most);

const documentOf = (bytes: Buffer) => ({ sha256: hash("sha256", bytes), bytes: bytes.length });

/**
 * Creates or replaces the draft.
 *
 * Errors: not_found app_not_found; invalid agreement_refused, text_*; conflict agreement_version_taken,
 *         agreement_limit.
 */
export async function writeDraft(
  tx: Transaction,
  { clientId, ...draft }: DraftInput & { clientId: ClientId },
  origin: Origin,
): Promise<void> {
  await getLockedApp(tx, clientId);
  const { agreement } = tx.prisma;
  const { attributes = [], scopes = [], subprocessors = [], deletionPeriods = {} } = draft;
  const purposes = [
    ...attributes.map(({ attribute, ...need }) => ({ item: attribute, ...need })),
    ...scopes.map(({ scope, ...need }) => ({ item: scope, ...need })),
  ];
  const version = checkText("version", draft.version, 50);
  const existing = await findDraft(tx, clientId);
  if ((await agreement.count({ where: { clientId, version, publishedAt: { not: null } } })) > 0)
    throw conflict("agreement_version_taken", `Another version of this agreement is called ${version}.`);
  if (existing === null)
    await checkLimit({
      lock: () => getLockedApp(tx, clientId),
      count: () => agreement.count({ where: { clientId } }),
      most: mostVersions,
      full: () => conflict("agreement_limit", `An app can have ${mostVersions} versions of its agreement.`),
    });
  if (new Set(purposes.map(({ item }) => item)).size < purposes.length)
    throw refuse("An attribute or scope is named twice.");
  const text = linesOf("text", draft.text, mostOfText);
  const data = {
    version,
    deletionDe: linesOf("deletionPeriods/de", deletionPeriods.de, mostOfPurpose),
    deletionEn: linesOf("deletionPeriods/en", deletionPeriods.en, mostOfPurpose),
    ...(text !== null && { text, pdf: null, ...documentOf(Buffer.from(text)) }),
    ...(text === null && existing?.document?.type === "TEXT" && { text: null, sha256: null, bytes: null }),
  };
  const id = existing?.id ?? makeUuid(origin.at);
  await agreement.upsert({ where: { id }, create: { id, clientId, createdAt: origin.at, ...data }, update: data });
  const { agreementPurpose, agreementSubprocessor } = tx.prisma;
  await agreementPurpose.deleteMany({ where: { agreementId: id } });
  await agreementSubprocessor.deleteMany({ where: { agreementId: id } });
  await agreementPurpose.createMany({
    data: purposes.map(({ item, isRequired, purpose }) => ({
      agreementId: id,
      item,
      required: isRequired,
      purposeDe: linesOf("purpose", purpose.de, mostOfPurpose),
      purposeEn: linesOf("purpose", purpose.en, mostOfPurpose),
    })),
  });
  await agreementSubprocessor.createMany({
    data: subprocessors.map(({ name, country, purpose }, place) => ({
      agreementId: id,
      place,
      name: checkName("name", name),
      country,
      purpose: checkText("purpose", purpose),
    })),
  });
  await recordAudit(tx, { ...origin, action: "agreement_draft_set", clientId, detail: { version } });
}

/** Errors: not_found app_not_found, agreement_draft_not_found; invalid agreement_refused. */
export async function writeDraftPdf(
  tx: Transaction,
  { clientId, pdf }: { clientId: ClientId; pdf: Buffer },
  origin: Origin,
): Promise<void> {
  if (pdf.length > mostOfPdf) throw refuse("It has more than 5 MB.");
  // Schools open the file outside this service.
  const fault = await findPdfFault(pdf);
  if (fault !== null) throw refuse(fault);
  const { draft } = await lockDraft(tx, clientId);
  const data = { text: null, pdf: new Uint8Array(pdf), ...documentOf(pdf) };
  await tx.prisma.agreement.update({ where: { id: draft.id }, data });
  const detail = { version: draft.version, sha256: data.sha256 };
  await recordAudit(tx, { ...origin, action: "agreement_draft_set", clientId, detail });
}

/** Errors: not_found app_not_found, agreement_draft_not_found. */
export async function deleteDraft(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const { draft } = await lockDraft(tx, clientId);
  await tx.prisma.agreement.delete({ where: { id: draft.id } });
  await recordAudit(tx, { ...origin, action: "agreement_draft_deleted", clientId, detail: { version: draft.version } });
}

/** Errors: not_found app_not_found, agreement_draft_not_found; conflict agreement_incomplete. */
export async function publishDraft(tx: Transaction, clientId: ClientId, origin: Origin): Promise<Agreement> {
  const { app, draft } = await lockDraft(tx, clientId);
  const incomplete = (message: string) => conflict("agreement_incomplete", message);
  if (draft.document === null) throw incomplete("The draft has no document. Write a text or upload a PDF.");
  const isStated = ({ purpose: { de, en } }: Agreement["scopes" | "attributes"][number]) => de !== null || en !== null;
  const stated = new Set<string>([
    ...draft.attributes.filter(isStated).map(({ attribute }) => attribute),
    ...draft.scopes.filter(isStated).map(({ scope }) => scope),
  ]);
  const missing = [...app.attributes, ...app.scopes].filter((name) => !stated.has(name));
  if (missing.length > 0) throw incomplete(`The draft does not say what is needed: ${missing.join(", ")}.`);
  const { provider } = await findProfile(tx, clientId);
  const published = { appName: app.name, provider, publishedAt: origin.at };
  await tx.prisma.agreement.update({ where: { id: draft.id }, data: published });
  const detail = { version: draft.version, sha256: draft.document.sha256 };
  await recordAudit(tx, { ...origin, action: "agreement_published", clientId, detail });
  return { ...draft, ...published, state: "PUBLISHED" };
}
