import { limitThreaded } from "../../platform/threads/index.ts";
import { askedBy, leavingOf, nameOf, unwrap, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { readZone } from "../frame/zone.ts";
import type { DataDocument } from "./data-document.ts";
import { addressOf, readPerson } from "./record.ts";

export async function showData(request: PageRequest): Promise<PageView> {
  const { t } = request;
  const { record } = await readPerson(request);
  const model = { base: addressOf(request), fullName: nameOf(record, request) };
  return { title: t("data.title"), view: "data", model };
}

const writeDocument = limitThreaded<DataDocument, Uint8Array>({
  module: new URL("./data-document.ts", import.meta.url),
  seconds: 60,
});

async function handData(request: PageRequest, as: "pdf" | "json"): Promise<Download> {
  const { api, path, t, locale, now, req } = request;
  const { record } = await readPerson(request);
  const data: unknown = await unwrap(
    api.GET("/admin/v1/people/{personId}/data", {
      params: { path },
      parseAs: "arrayBuffer",
      signal: leavingOf(request),
    }),
  );
  const given = { data: data as ArrayBuffer, as, name: nameOf(record, request), locale, zone: readZone(req), now };
  const { buffer, byteOffset, byteLength } = await writeDocument(given, askedBy(request));
  const file = Buffer.from(buffer, byteOffset, byteLength);
  return { file, type: `application/${as}`, name: `${t("data.file")}.${as}` };
}

export const handDataAsJson = (request: PageRequest): Promise<Download> => handData(request, "json");
export const handDataAsPdf = (request: PageRequest): Promise<Download> => handData(request, "pdf");
