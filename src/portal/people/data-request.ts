import type { AdminSchemas } from "../../admin/index.ts";
import { dayOf } from "../../platform/clock.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { makeFile, makePage, askedBy, leavingOf, callName, readZone, viewDataRequest } from "../frame/index.ts";
import type { Download, PageRequest, PageView } from "../frame/index.ts";
import type { DataDocument } from "./data-document.ts";
import type { LetterOptions } from "./data-letter.ts";
import { person, readPerson, type Person } from "./record.ts";

const mostRequests = 100;
const listRequests = ({ call, path }: PageRequest) =>
  call("listDataRequests", { query: { person: path.personId, limit: mostRequests } });

export async function showData(request: PageRequest): Promise<PageView> {
  const { at, t, now } = request;
  const { record } = await readPerson(request);
  return makePage("data", t("data.title"), {
    base: at(person),
    fullName: callName(record, request),
    requests: (await listRequests(request)).map((one) => viewDataRequest(one, request)),
    today: dayOf(now),
  });
}

const writeDocument = limitThreaded<DataDocument, Uint8Array>({
  module: new URL("./data-document.ts", import.meta.url),
  seconds: 60,
});

/** The person's school, which is the controller, and what schools know of the apps that see the person. */
async function readLetter(request: PageRequest, record: Person): Promise<LetterOptions> {
  const { call, find, path, locale, t } = request;
  const schoolId = record.homeSchoolId ?? path.schoolId;
  const school = await call("getSchool", { path: { schoolId } });
  const known = await Promise.all(
    (await call("listAppsOfPerson")).map(({ clientId }) => find("getCatalogueApp", { path: { schoolId, clientId } })),
  );
  const recipients = known.filter((app) => app !== null);
  const { location } = school;
  const state = location?.country === "DE" ? t(`frame.state.${location.state}`) : null;
  return { school, recipients, fullName: callName(record, request), askedBy: await readAsker(request), state, locale };
}

/** Who asked in the open request that came first, otherwise in the last one; the person without a request. */
async function readAsker(request: PageRequest): Promise<AdminSchemas["DataRequestAsker"]> {
  if (!request.may("listDataRequests")) return "PERSON";
  const requests = await listRequests(request);
  const open = requests.filter(({ state }) => state === "OPEN");
  return (open.at(-1) ?? requests[0])?.askedBy ?? "PERSON";
}

/** The data and its letter as one document. */
export const handData =
  (as: "pdf" | "json") =>
  async (request: PageRequest): Promise<Download> => {
    const { t, now, req } = request;
    const { record } = await readPerson(request);
    // The thread reads it, because it can be large.
    const data = await request.call("getPersonData", { asBytes: true, signal: leavingOf(request) });
    const document = {
      ...(await readLetter(request, record)),
      data: new Uint8Array(data as unknown as Buffer).buffer,
      as,
      zone: readZone(req),
      now,
    };
    const { buffer, byteOffset, byteLength } = await writeDocument(document, askedBy(request));
    return makeFile(Buffer.from(buffer, byteOffset, byteLength), t("data.file"), as);
  };
