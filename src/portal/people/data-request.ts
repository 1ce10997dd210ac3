import { limitThreaded } from "../../platform/threads/index.ts";
import { askedBy, leavingOf, take, type Handed, type Shown, type Visit } from "../frame/index.ts";
import { readZone } from "../frame/zone.ts";
import type { DataDocument } from "./data-document.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { nameOf } from "./words.ts";

/** Offers what a person who asks for their data is answered. */
export async function showData(visit: Visit): Promise<Shown> {
  const { t } = visit;
  const { record } = await readPerson(visit);
  const model = { base: addressOf(visit), fullName: nameOf(record, visit) };
  return { title: t("data.title"), view: "data", model };
}

const writeDocument = limitThreaded<DataDocument, Uint8Array>({
  module: new URL("./data-document.ts", import.meta.url),
  seconds: 60,
});

async function handData(visit: Visit, as: "pdf" | "json"): Promise<Handed> {
  const { api, t, locale, now, req } = visit;
  const { record } = await readPerson(visit);
  const data: unknown = await take(
    api.GET("/admin/v1/people/{personId}/data", {
      params: { path: pathOf(visit) },
      parseAs: "arrayBuffer",
      signal: leavingOf(visit),
    }),
  );
  const given = { data: data as ArrayBuffer, as, name: nameOf(record, visit), locale, zone: readZone(req), now };
  const { buffer, byteOffset, byteLength } = await writeDocument(given, askedBy(visit));
  const file = Buffer.from(buffer, byteOffset, byteLength);
  return { file, type: `application/${as}`, name: `${t("data.file")}.${as}` };
}

export const handDataAsJson = (visit: Visit): Promise<Handed> => handData(visit, "json");
export const handDataAsPdf = (visit: Visit): Promise<Handed> => handData(visit, "pdf");
