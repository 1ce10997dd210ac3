import { limitThreaded } from "../../platform/threads/index.ts";
import {
  askedBy,
  leavingOf,
  nameOf,
  unwrap,
  unwrapIfFound,
  type Download,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import { readZone } from "../frame/zone.ts";
import type { DataDocument } from "./data-document.ts";
import type { LetterOptions } from "./data-letter.ts";
import type { Person } from "./presentation.ts";
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

/** The person's school, which is the controller, and what schools know of the apps that see the person. */
async function readLetter(request: PageRequest, record: Person): Promise<LetterOptions> {
  const { api, path, locale } = request;
  const schoolId = record.homeSchoolId ?? path.schoolId;
  const school = await unwrap(api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }));
  const apps = await unwrap(api.GET("/admin/v1/people/{personId}/apps", { params: { path } }));
  const found = await Promise.all(
    apps.map(({ clientId }) => {
      const params = { path: { schoolId, clientId } };
      return unwrapIfFound(api.GET("/admin/v1/schools/{schoolId}/catalogue/{clientId}", { params }));
    }),
  );
  const recipients = found.filter((app) => app !== null);
  return { school, recipients, fullName: nameOf(record, request), locale };
}

async function handData(request: PageRequest, as: "pdf" | "json"): Promise<Download> {
  const { api, path, t, now, req } = request;
  const { record } = await readPerson(request);
  const data: unknown = await unwrap(
    api.GET("/admin/v1/people/{personId}/data", {
      params: { path },
      parseAs: "arrayBuffer",
      signal: leavingOf(request),
    }),
  );
  const letter = await readLetter(request, record);
  const given = { ...letter, data: data as ArrayBuffer, as, zone: readZone(req), now };
  const { buffer, byteOffset, byteLength } = await writeDocument(given, askedBy(request));
  const file = Buffer.from(buffer, byteOffset, byteLength);
  return { file, type: `application/${as}`, name: `${t("data.file")}.${as}` };
}

export const handDataAsJson = (request: PageRequest): Promise<Download> => handData(request, "json");
export const handDataAsPdf = (request: PageRequest): Promise<Download> => handData(request, "pdf");
