import { readFile } from "node:fs/promises";
import {
  deleteDraft,
  findAgreementPdf,
  findDraft,
  listAgreements as list,
  publishDraft,
  writeDraft,
  writeDraftPdf,
  type Agreement,
} from "../access/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { etagOf } from "../platform/http/index.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { reachesApp, reachesOwnApp, refuseOthersApp } from "./reached.ts";

export const presentAgreement = (agreement: Agreement): Schemas["Agreement"] =>
  present<Schemas["Agreement"]>({
    ...agreement,
    document: agreement.document && present<NonNullable<Schemas["AgreementDocument"]>>(agreement.document),
    subprocessors: agreement.subprocessors.map((one) => present<Schemas["AgreementSubprocessor"]>(one)),
    attributes: agreement.attributes.map((one) => present<Schemas["AgreementAttribute"]>(one)),
    scopes: agreement.scopes.map((one) => present<Schemas["AgreementScope"]>(one)),
  });

export const listAgreements: AdminHandler<"listAgreements"> = async (deps, request) => {
  const { clientId, reach } = request;
  const { range, answer } = readPage(deps, request);
  await refuseOthersApp(deps.db.pool, reach, clientId);
  return answer(await list(deps.db, { clientId, ...range }), presentAgreement);
};

type Changing = "putAgreementDraft" | "putAgreementPdf" | "deleteAgreementDraft" | "publishAgreement";
type Request = Pick<AdminRequest<Changing>, "clientId" | "headers" | "reach" | "origin">;

/** The document is in the audit by its hash. */
async function readDraft(tx: Transaction, { clientId }: Request): Promise<Schemas["Agreement"] | null> {
  const draft = await findDraft(tx, clientId);
  return draft && presentAgreement(draft);
}

const recorded = (draft: Schemas["Agreement"] | null) => {
  if (draft === null) return null;
  const { text: _text, ...rest } = draft;
  return rest;
};

async function changeDraft<T>(
  { db }: Pick<AdminDeps, "db">,
  request: Request,
  work: (tx: Transaction) => Promise<T>,
): Promise<{ made: T; tag: string | null }> {
  await refuseOthersApp(db.pool, request.reach, request.clientId);
  return withPrismaTransaction(db, async (tx) => {
    const before = await readDraft(tx, request);
    refuseStale(request.headers, before);
    const made = await work(tx);
    const after = await readDraft(tx, request);
    await recordDifference(tx, request.origin, differenceOf(recorded(before), recorded(after)));
    return { made, tag: after && tagOf(after) };
  });
}

export const putAgreementDraft: AdminHandler<"putAgreementDraft"> = async (deps, request) => {
  const { clientId, body, origin } = request;
  const { tag } = await changeDraft(deps, request, (tx) => writeDraft(tx, { clientId, ...body }, origin));
  return { status: 204, headers: { ETag: tag! } };
};

export const putAgreementPdf: AdminHandler<"putAgreementPdf"> = async (deps, request) => {
  const { clientId, body, origin } = request;
  const pdf = await readFile(body.file.path);
  const { tag } = await changeDraft(deps, request, (tx) => writeDraftPdf(tx, { clientId, pdf }, origin));
  return { status: 204, headers: { ETag: tag! } };
};

export const deleteAgreementDraft: AdminHandler<"deleteAgreementDraft"> = async (deps, request) => {
  await changeDraft(deps, request, (tx) => deleteDraft(tx, request.clientId, request.origin));
  return { status: 204 };
};

export const publishAgreement: AdminHandler<"publishAgreement"> = async (deps, request) => {
  const { made } = await changeDraft(deps, request, (tx) => publishDraft(tx, request.clientId, request.origin));
  return { status: 200, body: presentAgreement(made) };
};

export const getAgreementPdf: AdminHandler<"getAgreementPdf"> = async ({ db }, { agreementId, reach }) => {
  const found = await findAgreementPdf(db, agreementId);
  const isReached =
    found !== null && (found.isPublished ? reachesApp(reach, found.clientId) : reachesOwnApp(reach, found.clientId));
  if (!isReached) throw new AppError("not_found", "agreement_not_found", "There is no such agreement.");
  const headers = { ...attachmentOf(`agreement-${agreementId}.pdf`), ETag: etagOf(found.sha256) };
  return { status: 200, body: Buffer.from(found.pdf), headers };
};

export const attachmentOf = (fileName: string) => ({ "Content-Disposition": `attachment; filename="${fileName}"` });
