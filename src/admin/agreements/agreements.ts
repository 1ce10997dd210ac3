import { readFile } from "node:fs/promises";
import * as access from "../../access/index.ts";
import type { Agreement, ClientId } from "../../access/index.ts";
import { present } from "../present.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { etagOf } from "../../platform/http/index.ts";
import { changeRecord, type ChangeRequest } from "../change.ts";
import type { AdminDeps, AdminHandler, KeptAnswer, Schemas } from "../handler.ts";
import { reachesApp, reachesOwnApp } from "../reached.ts";

export const presentAgreement = (agreement: Agreement) => present("Agreement", agreement);

export const listAgreements: AdminHandler<"listAgreements"> = async (deps, request) => {
  const { clientId, page } = request;
  return page.answer(await access.listAgreements(deps.db, { clientId, ...page.range }), presentAgreement);
};

type Request = ChangeRequest & { clientId: ClientId };

/** The document is in the audit by its hash. */
async function readDraft(tx: Transaction, { clientId }: Request): Promise<Schemas["Agreement"] | null> {
  const draft = await access.findDraft(tx, clientId);
  return draft && presentAgreement(draft);
}

const recorded = ({ text: _text, ...rest }: Schemas["Agreement"]) => rest;

const changeDraft = <Result, Answer extends KeptAnswer>(
  deps: AdminDeps,
  request: Request,
  work: (tx: Transaction) => Promise<Result>,
  answer?: (changed: { result: Result }) => Answer,
) =>
  changeRecord(deps, request, {
    record: (tx) => readDraft(tx, request),
    work,
    recorded,
    ...(answer && { answer }),
  });

export const putAgreementDraft: AdminHandler<"putAgreementDraft"> = (deps, request) => {
  const { clientId, body, origin } = request;
  return changeDraft(deps, request, (tx) => access.writeDraft(tx, { clientId, ...body }, origin));
};

export const putAgreementPdf: AdminHandler<"putAgreementPdf"> = async (deps, request) => {
  const { clientId, body, origin } = request;
  const pdf = await readFile(body.file.path);
  return changeDraft(deps, request, (tx) => access.writeDraftPdf(tx, { clientId, pdf }, origin));
};

export const deleteAgreementDraft: AdminHandler<"deleteAgreementDraft"> = (deps, request) =>
  changeDraft(deps, request, (tx) => access.deleteDraft(tx, request.clientId, request.origin));

export const publishAgreement: AdminHandler<"publishAgreement"> = (deps, request) =>
  changeDraft(
    deps,
    request,
    (tx) => access.publishDraft(tx, request.clientId, request.origin),
    ({ result }) => ({ status: 200 as const, body: presentAgreement(result) }),
  );

export const getAgreementPdf: AdminHandler<"getAgreementPdf"> = async ({ db }, { agreementId, reach }) => {
  const found = await access.findAgreementPdf(db, agreementId);
  const isReached =
    found !== null && (found.isPublished ? reachesApp(reach, found.clientId) : reachesOwnApp(reach, found.clientId));
  if (!isReached) throw new AppError("not_found", "agreement_not_found", "There is no such agreement.");
  const headers = { ...attachmentOf(`agreement-${agreementId}.pdf`), ETag: etagOf(found.sha256) };
  return { status: 200, body: Buffer.from(found.pdf), headers };
};

export const attachmentOf = (fileName: string) => ({ "Content-Disposition": `attachment; filename="${fileName}"` });
