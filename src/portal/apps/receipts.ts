import type { Download, PageRequest } from "../frame/index.ts";
import { loadDocument } from "./agreement.ts";

export const list = "/admin/schools/:schoolId/agreements";

export async function listReceipts(request: PageRequest) {
  const { items, more } = await request.list("listAgreementReceipts");
  const address = request.at(list);
  const model = { receipts: items, address, more: more(address) };
  return { title: request.t("receipts.title"), view: "receipts", model };
}

export async function showReceipt({ call, at, t }: PageRequest) {
  const { receipt, schoolName, agreement } = await call("getAgreementReceipt");
  const model = { receipt, schoolName, agreement, address: `${at(list)}/${receipt.id}`, list: at(list) };
  const title = t("receipts.one", { app: receipt.appName, version: receipt.version });
  return { title, view: "receipt", model };
}

export const printReceipt = async ({ call, locale, t }: PageRequest): Promise<Download> => ({
  file: await call("printAgreementReceipt", { query: { language: locale } }),
  type: "application/pdf",
  name: `${t("receipts.file")}.pdf`,
});

export const loadReceipt = async ({ call, t }: PageRequest): Promise<Download> => ({
  file: JSON.stringify(await call("getAgreementReceipt"), null, 2),
  type: "application/json",
  name: `${t("receipts.file")}.json`,
});

export const loadReceiptDocument = async (request: PageRequest): Promise<Download> =>
  loadDocument(request, (await request.call("getAgreementReceipt")).agreement);
