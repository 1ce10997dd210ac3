import { readFile } from "node:fs/promises";
import * as access from "../../access/index.ts";
import { findReceipt, listReceipts } from "../../access/index.ts";
import type {
  Agreement,
  ClientId,
  AgreementReceipt,
  AppAttribute,
  GrantKey,
  WithheldItem,
} from "../../access/index.ts";
import { storeOf, type Transaction, type RecordStore, type Store } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { etagOf } from "../../platform/http/index.ts";
import { changeRecord, answerRecord, changeInDirectory, type ChangeRequest, type PreviewedRequest } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type KeptAnswer, type Schemas } from "../handler.ts";
import { reachesApp, reachesOwnApp } from "../reached.ts";
import { findSchool, type SchoolId, type Change } from "../../directory/index.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { describeReceipt, receiptTexts } from "../document-pdf/receipt.ts";
import type { PrintedDocument } from "../document-pdf/draw.ts";
import { findNames, readActor } from "../names.ts";

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
    answer,
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
  const file = await access.findAgreementPdf(db, agreementId);
  const isReached =
    file !== null && (file.isPublished ? reachesApp(reach, file.clientId) : reachesOwnApp(reach, file.clientId));
  if (!isReached) throw new AppError("not_found", "agreement_not_found", "There is no such agreement.");
  const headers = { ...attachmentOf(`agreement-${agreementId}.pdf`), ETag: etagOf(file.sha256) };
  return { status: 200, body: Buffer.from(file.pdf), headers };
};

export const attachmentOf = (fileName: string) => ({ "Content-Disposition": `attachment; filename="${fileName}"` });

type Actor = Schemas["AgreementActor"];

const nobody = "00000000-0000-0000-0000-000000000000";

async function presentActor(db: RecordStore, actorId: string | null, role: string | null): Promise<Actor> {
  const { personId: person, clientId } = readActor(actorId);
  const personId = person === nobody ? null : person;
  const names = await findNames(db, { personIds: [personId], clientIds: [clientId] });
  const name = names.ofPerson(personId);
  return present("AgreementActor", {
    personId,
    clientId,
    name: name === null ? names.ofApp(clientId) : `${name.firstCall} ${name.last}`,
    role: (role ?? "NONE") as Actor["role"],
  });
}

export async function presentReceipt(
  db: RecordStore,
  { acceptedBy, acceptedRole, withdrawnBy, withdrawnRole, ...receipt }: AgreementReceipt,
): Promise<Schemas["AgreementReceipt"]> {
  return present("AgreementReceipt", {
    ...receipt,
    acceptedBy: await presentActor(db, acceptedBy, acceptedRole),
    withdrawnBy: receipt.withdrawnAt === null ? undefined : await presentActor(db, withdrawnBy, withdrawnRole),
  });
}

export const listAgreementReceipts: AdminHandler<"listAgreementReceipts"> = async (deps, request) => {
  const { schoolId, query, page } = request;
  const receipts = await listReceipts(deps.db, { schoolId, clientId: query.app, ...page.range });
  return page.answer(await Promise.all(receipts.map((receipt) => presentReceipt(deps.db, receipt))));
};

/** Errors: not_found agreement_receipt_not_found. */
async function readProof(
  db: RecordStore,
  { schoolId, agreementReceiptId }: { schoolId: SchoolId; agreementReceiptId: string },
): Promise<Schemas["AgreementProof"]> {
  const acceptance = await findReceipt(db, { schoolId, id: agreementReceiptId });
  if (acceptance === null)
    throw new AppError("not_found", "agreement_receipt_not_found", "The school has no such receipt.");
  return present("AgreementProof", {
    receipt: await presentReceipt(db, acceptance.receipt),
    schoolName: (await findSchool(db, schoolId))!.name,
    agreement: acceptance.agreement,
  });
}

export const getAgreementReceipt: AdminHandler<"getAgreementReceipt"> = async ({ db }, request) =>
  answerRecord(await readProof(db, request));

const print = limitThreaded<PrintedDocument, Uint8Array>({
  module: new URL("../document-pdf/draw.ts", import.meta.url),
  seconds: 60,
});

export const printAgreementReceipt: AdminHandler<"printAgreementReceipt"> = async ({ db }, request) => {
  const { query, origin, connection } = request;
  const language = query.language ?? "de";
  const document = describeReceipt(await readProof(db, request), { language, now: origin.at });
  const body = Buffer.from(await print(document, { by: origin.actorId, caller: connection }));
  return { status: 200, body, headers: attachmentOf(`${receiptTexts(language)("file")}.pdf`) };
};

type SchoolAgreement = Schemas["SchoolAgreement"];

const isAttribute = (item: WithheldItem): item is AppAttribute =>
  (access.appAttributes as readonly string[]).includes(item);

async function readAtSchool(db: Store, { demandsAgreements }: AdminDeps, key: GrantKey): Promise<SchoolAgreement> {
  const { current, accepted, withheld, ...rest } = await access.findSchoolAgreement(db, key);
  return present("SchoolAgreement", {
    ...rest,
    isDemanded: demandsAgreements,
    current: current ?? undefined,
    accepted: accepted === null ? undefined : await presentReceipt(db, accepted),
    withheldAttributes: withheld.flatMap(({ item, reason, since }) =>
      isAttribute(item) ? [{ attribute: item, reason, since }] : [],
    ),
    withheldScopes: withheld.flatMap(({ item, since }) => (isAttribute(item) ? [] : [{ scope: item, since }])),
  });
}

export const getSchoolAgreement: AdminHandler<"getSchoolAgreement"> = async (deps, request) => {
  const { schoolId, clientId } = request;
  return answerRecord(await readAtSchool(storeOf(deps.db), deps, { schoolId, clientId }));
};

/** The audit shows of the agreement what the school decided, not the document. */
const recordedDecision = ({ state, accepted, withheldAttributes, withheldScopes }: SchoolAgreement) => ({
  state,
  version: accepted?.version ?? null,
  withheldAttributes: withheldAttributes.map(({ attribute }) => attribute),
  withheldScopes: withheldScopes.map(({ scope }) => scope),
});

const changeAgreement = (
  deps: AdminDeps,
  request: PreviewedRequest & GrantKey,
  work: (change: Change, key: GrantKey) => Promise<unknown>,
) => {
  const { schoolId, clientId } = request;
  const key = { schoolId, clientId };
  return changeInDirectory(deps, request, {
    touch: (change) => access.holdForAgreement(change, key),
    record: (tx) => readAtSchool(tx, deps, key),
    work: (change) => work(change, key),
    recorded: recordedDecision,
  });
};

export const acceptAgreement: AdminHandler<"acceptAgreement"> = (deps, request) => {
  const { agreementId, withheld } = request.body;
  return changeAgreement(deps, request, (change, key) =>
    access.acceptAgreement(change, { ...key, agreementId, withheld }),
  );
};

export const withdrawAgreement: AdminHandler<"withdrawAgreement"> = (deps, request) =>
  changeAgreement(deps, request, access.withdrawAgreement);

export const putWithheldAttributes: AdminHandler<"putWithheldAttributes"> = (deps, request) =>
  changeAgreement(deps, request, (change, key) =>
    access.chooseWithheld(change, { ...key, attributes: request.body.attributes }),
  );
