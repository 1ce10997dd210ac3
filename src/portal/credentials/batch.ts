import type { AdminSchemas } from "../../admin/index.ts";
import {
  leavingOf,
  listGroups,
  postAndRedirect,
  unwrap,
  type Download,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import { listAddress } from "./start.ts";

const at = "/admin/v1/schools/{schoolId}/credential-batches/{credentialBatchId}";

const addressOf = (request: PageRequest): string => `${listAddress(request)}/${request.path.credentialBatchId}`;

type Batch = AdminSchemas["CredentialBatch"];

const kindOf = ({ newPasswords, withQr }: Batch) =>
  withQr ? (newPasswords ? "both" : "cards") : newPasswords ? "passwords" : "letters";

const readBatch = ({ api, path }: PageRequest): Promise<Batch> => unwrap(api.GET(at, { params: { path } }));

const titleOf = (batch: Batch, { t }: PageRequest): string =>
  t(kindOf(batch) === "letters" ? "batch.onlyLetters" : "batch.title");

/** The classes or roles that were chosen. */
async function whomOf({ groupIds, roles }: Batch, request: PageRequest): Promise<string> {
  if (groupIds === null) return roles.map((role) => request.t(`roles.${role}`)).join(", ");
  const names = new Map((await listGroups(request)).map(({ id, name }) => [id, name]));
  return groupIds.map((id) => names.get(id) ?? request.t("batch.otherGroup")).join(", ");
}

export async function showBatch(request: PageRequest): Promise<PageView> {
  const batch = await readBatch(request);
  const percent = Math.floor((100 * batch.prepared) / Math.max(1, batch.people));
  const kind = kindOf(batch);
  const model = {
    base: addressOf(request),
    list: listAddress(request),
    batch,
    percent,
    kind,
    whom: await whomOf(batch, request),
  };
  return { title: titleOf(batch, request), view: "batch", model };
}

/** Makes everything in the document valid, and hands it out. */
export async function handOut(request: PageRequest): Promise<Download> {
  const { api, path, field, locale: language, idempotencyKey } = request;
  const name = titleOf(await readBatch(request), request);
  const format = field("format") === "csv" ? "csv" : "pdf";
  const params = { path, query: { language, format }, header: { "Idempotency-Key": idempotencyKey } } as const;
  const file: unknown = await unwrap(
    api.POST(`${at}/document`, { params, parseAs: "arrayBuffer", signal: leavingOf(request) }),
  );
  const type = format === "csv" ? "text/csv; charset=utf-8" : "application/pdf";
  return { file: Buffer.from(file as ArrayBuffer), type, name: `${name}.${format}` };
}

export const deleteBatch = postAndRedirect("batchDeleted", listAddress, ({ api, path }) =>
  api.DELETE(at, { params: { path } }),
);
