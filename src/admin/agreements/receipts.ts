import { findReceipt, listReceipts, type AgreementReceipt } from "../../access/index.ts";
import { findSchool, type SchoolId } from "../../directory/index.ts";
import { personActor } from "../../events/index.ts";
import { present } from "../present.ts";
import { type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { attachmentOf } from "./agreements.ts";
import { answerRecord } from "../change.ts";
import { describeReceipt, receiptTexts } from "../document-pdf/receipt.ts";
import type { PrintedDocument } from "../document-pdf/draw.ts";
import { appActor, type AdminHandler, type Schemas } from "../handler.ts";
import { findNames } from "../names.ts";

type Actor = Schemas["AgreementActor"];

const nobody = "00000000-0000-0000-0000-000000000000";

async function presentActor(db: RecordStore, actorId: string | null, role: string | null): Promise<Actor> {
  const idAfter = (prefix: string) => (actorId?.startsWith(prefix) === true ? actorId.slice(prefix.length) : null);
  const [person, clientId] = [idAfter(personActor("")), idAfter(appActor(""))];
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
  const { schoolId, query } = request;
  const { range, answer } = request.page;
  const found = await listReceipts(deps.db, { schoolId, clientId: query.app, ...range });
  return answer(await Promise.all(found.map((receipt) => presentReceipt(deps.db, receipt))));
};

/** Errors: not_found agreement_receipt_not_found. */
async function readProof(
  db: RecordStore,
  { schoolId, agreementReceiptId }: { schoolId: SchoolId; agreementReceiptId: string },
): Promise<Schemas["AgreementProof"]> {
  const found = await findReceipt(db, { schoolId, id: agreementReceiptId });
  if (found === null) throw new AppError("not_found", "agreement_receipt_not_found", "The school has no such receipt.");
  return present("AgreementProof", {
    receipt: await presentReceipt(db, found.receipt),
    schoolName: (await findSchool(db, schoolId))!.name,
    agreement: found.agreement,
  });
}

export const getAgreementReceipt: AdminHandler<"getAgreementReceipt"> = async ({ db }, request) => {
  const body = await readProof(db, request);
  return answerRecord(body);
};

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
