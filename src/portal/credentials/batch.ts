import { leavingOf, postAndRedirect, unwrap, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { listAddress } from "./start.ts";

const at = "/admin/v1/schools/{schoolId}/credential-batches/{credentialBatchId}";

const addressOf = (request: PageRequest): string => `${listAddress(request)}/${request.path.credentialBatchId}`;

export async function showBatch(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const batch = await unwrap(api.GET(at, { params: { path } }));
  const percent = Math.floor((100 * batch.prepared) / Math.max(1, batch.people));
  const made = batch.withQr ? (batch.newPasswords ? "both" : "cards") : "passwords";
  const kind = batch.newPasswords || batch.withQr ? made : "letters";
  const model = { base: addressOf(request), list: listAddress(request), batch, percent, kind };
  return { title: t("batch.title"), view: "batch", model };
}

/** Makes everything in the document valid, and hands it out. */
export async function handOut(request: PageRequest): Promise<Download> {
  const { api, path, field, t, locale: language, idempotencyKey } = request;
  const format = field("format") === "csv" ? "csv" : "pdf";
  const params = { path, query: { language, format }, header: { "Idempotency-Key": idempotencyKey } } as const;
  const file: unknown = await unwrap(
    api.POST(`${at}/document`, { params, parseAs: "arrayBuffer", signal: leavingOf(request) }),
  );
  const type = format === "csv" ? "text/csv; charset=utf-8" : "application/pdf";
  return { file: Buffer.from(file as ArrayBuffer), type, name: `${t("batch.file")}.${format}` };
}

export const deleteBatch = postAndRedirect("batchDeleted", listAddress, ({ api, path }) =>
  api.DELETE(at, { params: { path } }),
);
