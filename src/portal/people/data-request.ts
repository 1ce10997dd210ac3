import type { AdminSchemas } from "../../admin/index.ts";
import { dayOf } from "../../platform/days.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import {
  askedBy,
  leavingOf,
  nameOf,
  unwrap,
  postAndRedirect,
  readZone,
  unwrapIfFound,
  unwrapPage,
  updateDataRequest,
  viewDataRequest,
  type Download,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import type { DataDocument } from "./data-document.ts";
import type { LetterOptions } from "./data-letter.ts";
import type { Person } from "./presentation.ts";
import { addressOf, readPerson } from "./record.ts";

export async function showData(request: PageRequest): Promise<PageView> {
  const { api, t, now, path } = request;
  const { record } = await readPerson(request);
  const query = { person: path.personId, limit: mostRequests };
  const { items } = await unwrapPage(api.GET("/admin/v1/data-requests", { params: { query } }));
  const model = {
    base: addressOf(request),
    fullName: nameOf(record, request),
    requests: items.map((one) => viewDataRequest(one, request)),
    today: dayOf(now),
    mayRecord: request.may("createDataRequest"),
    mayExport: request.may("getPersonData"),
  };
  return { title: t("data.title"), view: "data", model };
}

const mostRequests = 100;

const dataPage = (request: PageRequest): string => `${addressOf(request)}/data`;

export const recordRequest = postAndRedirect("dataRequestRecorded", dataPage, (request) => {
  const { api, path, field, idempotencyKey } = request;
  const body = { askedBy: field("askedBy"), receivedOn: field("receivedOn") } as AdminSchemas["DataRequestInput"];
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  return api.POST("/admin/v1/people/{personId}/data-requests", { params, body });
});

export const updateRequest = updateDataRequest(dataPage);

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
  return { school, recipients, fullName: nameOf(record, request), askedBy: await readAsker(request), locale };
}

/** Who asked in the open request that came first, otherwise in the last one; the person without a request. */
async function readAsker({ api, path, may }: PageRequest): Promise<AdminSchemas["DataRequestAsker"]> {
  if (!may("listDataRequests")) return "PERSON";
  const query = { person: path.personId, limit: mostRequests };
  const { items } = await unwrapPage(api.GET("/admin/v1/data-requests", { params: { query } }));
  const open = items.filter(({ state }) => state === "OPEN");
  return (open.at(-1) ?? items[0])?.askedBy ?? "PERSON";
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
