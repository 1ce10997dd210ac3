import type { AdminSchemas } from "../../admin/index.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { askedBy, take, type Handed, type Shown, type Visit } from "../frame/index.ts";
import type { DataDocument, Section } from "./data-document.ts";
import { addressOf, pathOf, readPerson } from "./record.ts";
import { nameOf } from "./words.ts";

type PersonData = AdminSchemas["PersonData"];

/** Offers what a person who asks for their data is answered. */
export async function showData(visit: Visit): Promise<Shown> {
  const { t, part } = visit;
  const { record } = await readPerson(visit);
  const model = { base: addressOf(visit), fullName: nameOf(record, visit) };
  return { title: t("data.title"), view: "data", model, place: { schoolId: part("schoolId"), page: "people" } };
}

const readData = async (visit: Visit): Promise<PersonData> => {
  const { api } = visit;
  await readPerson(visit);
  return take(api.GET("/admin/v1/people/{personId}/data", { params: { path: pathOf(visit) } }));
};

export async function handDataAsJson(visit: Visit): Promise<Handed> {
  const file = JSON.stringify(await readData(visit), null, 2);
  return { file, type: "application/json", name: `${visit.t("data.file")}.json` };
}

const drawDocument = limitThreaded<DataDocument, Uint8Array>({
  module: new URL("./data-document.ts", import.meta.url),
  seconds: 60,
});

export async function handDataAsPdf(visit: Visit): Promise<Handed> {
  const { t, locale, now } = visit;
  const data = await readData(visit);
  const [title, subtitle, sections] = [t("data.documentTitle"), nameOf(data.person, visit), listSections(data, visit)];
  const file = Buffer.from(await drawDocument({ title, subtitle, sections, locale, now }, askedBy(visit)));
  return { file, type: "application/pdf", name: `${t("data.file")}.pdf` };
}

/** One part of the answer for each property. Shape: what holds nothing says so. */
function listSections({ madeAt, isComplete, ...parts }: PersonData, visit: Visit): Section[] {
  const { t, times } = visit;
  const first = { heading: t("data.about"), lines: [t("data.madeAt", { at: times.time(madeAt) })] };
  if (!isComplete) first.lines.push(t("data.incomplete"));
  const others = Object.entries(parts).map(([key, value]) => {
    const lines = linesOf(value, visit);
    return { heading: t(`data.sections.${key}`), lines: lines.length === 0 ? [t("data.nothing")] : lines };
  });
  return [first, ...others];
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text);

/** Writes a value as lines: a list as one line for each entry, a record as its properties with their names. */
function linesOf(value: unknown, visit: Visit): string[] {
  if (Array.isArray(value)) return value.map((entry) => wordsOf(entry, visit)).filter((line) => line !== "");
  if (typeof value !== "object" || value === null) return [wordsOf(value, visit)].filter((line) => line !== "");
  return Object.entries(value).flatMap(([key, one]) => {
    const text = wordsOf(one, visit);
    return text === "" ? [] : [`${labelOf(key, visit)}: ${text}`];
  });
}

function wordsOf(value: unknown, visit: Visit): string {
  const { t, times } = visit;
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return t(value ? "data.yes" : "data.no");
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return isTime(value) ? times.time(value) : value;
  if (Array.isArray(value)) return value.map((one) => wordsOf(one, visit)).join(", ");
  return linesOf(value, visit).join("; ");
}

/** The name of a property; as the contract has it where the texts know no other. */
function labelOf(key: string, { t }: Visit): string {
  return (known as readonly string[]).includes(key) ? t(`data.labels.${key}`) : key;
}

const known = [
  ...["id", "role", "status", "name", "firstFull", "firstCall", "last", "sourceSystemIdentifier", "softDeletedAt"],
  ...["purgeAt", "blockedAt", "createdAt", "firstSignInAt", "lastSignInAt", "username", "hasLogin", "hasPassword"],
  ...["homeSchoolId", "schools", "groups", "changedAt", "sessions", "clientId", "appName", "scopes", "grantedAt"],
  ...["what", "at", "until", "schoolId", "action", "since", "endsAt", "lastUsedAt", "apps", "personId", "actor"],
  ...["maySignIn", "isUser", "isPerson", "attributes", "consent", "kind", "detail", "names", "reason", "givenAt"],
] as const;
