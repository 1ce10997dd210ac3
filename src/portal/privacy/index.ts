import { stringify } from "csv-stringify/sync";
import { makeFile, makePage, describeReads, makeArea, readDataRequest, viewDataRequest } from "../frame/index.ts";
import type { Download, PageRequest, PageView } from "../frame/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";
import { csvFile } from "../../platform/text/csv.ts";

/** `/admin/schools/:schoolId/privacy`: the record of processing of a school, to read, print and download. */
export const privacyPages = makeArea({ folder: import.meta.dirname, page: "privacy" }, (pages) => {
  const onPrivacy = pages.at("/admin/schools/:schoolId/privacy", showRecord);
  onPrivacy.get("csv", handCsv);
  onPrivacy.get("json", handJson);
  pages
    .at("/admin/schools/:schoolId/privacy/requests", showDataRequests)
    .act(":dataRequestId", "updateDataRequest", "dataRequestUpdated", { fields: readDataRequest });
});

const mostOpen = 1000;

/** The data requests of a school: open ones by the day on which they are due, closed ones by the page. */
async function showDataRequests(request: PageRequest) {
  const { call, list, t, path } = request;
  const ofSchool = { school: path.schoolId };
  const [open, closed] = await Promise.all([
    call("listDataRequests", { query: { ...ofSchool, state: "OPEN", limit: mostOpen } }),
    list("listDataRequests", { query: { ...ofSchool, state: "CLOSED", limit: 20 } }),
  ]);
  return makePage("requests", t("requests.title"), {
    open: open.toSorted((a, b) => (a.daysLeft ?? 0) - (b.daysLeft ?? 0)).map((one) => viewDataRequest(one, request)),
    closed: closed.items.map((one) => viewDataRequest(one, request)),
    more: closed.more,
  });
}

const columns = [
  ...(["kind", "name", "controller", "processor", "purpose", "purposes", "people", "data", "withheld"] as const),
  ...(["recipients", "kept", "agreement", "access", "retention", "measures"] as const),
];

function writeActivity(activity: AdminSchemas["ProcessingActivity"], request: PageRequest) {
  const { t, locale, times } = request;
  const { kind, grant, reads, agreement } = activity;
  const read = (text: AdminSchemas["AppText"]) => text[locale] ?? text.de ?? text.en ?? "";
  const listed = (terms: readonly AdminSchemas["PrivacyTerm"][]) => terms.map(({ text }) => read(text));
  return {
    kind: t(`record.kind.${kind}`),
    name: read(activity.name),
    purpose: read(activity.purpose) || t("words.noPurpose"),
    purposes: activity.purposes.map(({ item, isRequired, purpose }) => {
      const name = /^[A-Z_]+$/.test(item) ? t(`attribute.${item}`) : t(`scope.${item.replace(":", "_")}`);
      return t(isRequired ? "record.required" : "record.optional", { name, purpose: read(purpose) });
    }),
    people: listed(activity.people),
    data: activity.data.map(({ text, kept }) => ({ name: read(text), kept: read(kept) })),
    withheld: listed(activity.withheld),
    recipients: activity.recipients.map(({ name, country, purpose, contact, privacyUrl }) =>
      [name ?? t("record.noName"), country, purpose, contact, privacyUrl].filter((part) => part !== null).join(", "),
    ),
    agreement:
      agreement === null
        ? []
        : [t("record.agreed", { version: agreement.version, at: times.day(agreement.acceptedAt) })],
    access:
      reads === null ? [] : [t(`record.signOn.${grant?.signOn.kind ?? "NOBODY"}`), ...describeReads(reads, request)],
  };
}

const writeRetention = ({ retention }: AdminSchemas["ProcessingRecord"], { locale }: PageRequest): string[] =>
  retention.map(({ text, reason }) => (reason === null ? text[locale] : `${text[locale]} (${reason})`));

export async function showRecord(request: PageRequest): Promise<PageView> {
  const { t, locale } = request;
  const record = await request.call("getProcessingRecord");
  return makePage("record", t("record.title"), {
    record,
    activities: record.activities.map((activity) => writeActivity(activity, request)),
    retention: writeRetention(record, request),
    measures: record.measures.map(({ text }) => text[locale]),
  });
}

export const handJson = async ({ call, t }: PageRequest) =>
  makeFile(JSON.stringify(await call("getProcessingRecord"), null, 2), t("record.file"), "json");

/** A row for each activity; a cell has a line for each entry. */
export async function handCsv(request: PageRequest): Promise<Download> {
  const { t, locale } = request;
  const record = await request.call("getProcessingRecord");
  const { school, operator, activities } = record;
  const ofService = {
    retention: writeRetention(record, request),
    measures: record.measures.map(({ text }) => text[locale]),
  };
  const rows = activities.map((activity) => {
    const written = writeActivity(activity, request);
    const cells: Record<(typeof columns)[number], string | readonly string[]> = {
      ...written,
      controller: school.name,
      processor: operator.name,
      data: written.data.map(({ name }) => name),
      kept: written.data.map(({ name, kept }) => `${name}: ${kept}`),
      ...(activity.kind === "SERVICE" ? ofService : { retention: "", measures: "" }),
    };
    return Object.fromEntries(Object.entries(cells).map(([key, cell]) => [key, [cell].flat().join("\n")]));
  });
  const file = stringify(rows, {
    ...csvFile(locale),
    columns: columns.map((key) => ({ key, header: t(`record.column.${key}`) })),
  });
  return makeFile(file, t("record.file"), "csv");
}
