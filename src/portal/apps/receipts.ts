import type { AdminSchemas } from "../../admin/index.ts";
import { unwrap, unwrapPage, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { loadDocument } from "./agreement.ts";

const list = "/admin/v1/schools/{schoolId}/agreement-receipts";
const one = `${list}/{agreementReceiptId}` as const;

const addressOf = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/agreements`;

export async function listReceipts(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const query = { limit: 50, ...request.cursor };
  const { items, more } = await unwrapPage(api.GET(list, { params: { path, query } }));
  const model = { receipts: items, address: addressOf(request), more: more(addressOf(request)) };
  return { title: t("receipts.title"), view: "receipts", model };
}

const read = ({ api, path }: PageRequest): Promise<AdminSchemas["AgreementProof"]> =>
  unwrap(api.GET(one, { params: { path } }));

export async function showReceipt(request: PageRequest): Promise<PageView> {
  const { receipt, schoolName, agreement } = await read(request);
  const address = `${addressOf(request)}/${receipt.id}`;
  const title = request.t("receipts.one", { app: receipt.appName, version: receipt.version });
  return { title, view: "receipt", model: { receipt, schoolName, agreement, address, list: addressOf(request) } };
}

export async function printReceipt(request: PageRequest): Promise<Download> {
  const { api, path, locale, t } = request;
  const pdf = await unwrap(
    api.GET(`${one}/pdf`, { params: { path, query: { language: locale } }, parseAs: "arrayBuffer" }),
  );
  const file = Buffer.from(pdf as unknown as ArrayBuffer);
  return { file, type: "application/pdf", name: `${t("receipts.file")}.pdf` };
}

export const loadReceipt = async (request: PageRequest): Promise<Download> => ({
  file: JSON.stringify(await read(request), null, 2),
  type: "application/json",
  name: `${request.t("receipts.file")}.json`,
});

export const loadReceiptDocument = async (request: PageRequest): Promise<Download> =>
  loadDocument(request, (await read(request)).agreement);
