import type { AdminSchemas } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import type { Times } from "../frame/zone.ts";

export type PersonData = AdminSchemas["PersonData"];
export type Section = { heading: string; lines: string[] };
type Words = { t: Translate; times: Times };

/** Per list; the JSON has all entries. */
const mostLines = 1000;

/** One section per property; an empty one says so. */
export function listSections({ madeAt, isComplete, ...parts }: PersonData, words: Words): Section[] {
  const { t, times } = words;
  const first = { heading: t("data.about"), lines: [t("data.madeAt", { at: times.time(madeAt) })] };
  if (!isComplete) first.lines.push(t("data.incomplete"));
  const others = Object.entries(parts).map(([key, value]) => {
    const lines = linesOf(value, words);
    return { heading: t(`data.sections.${key}`), lines: lines.length === 0 ? [t("data.nothing")] : lines };
  });
  return [first, ...others];
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text);

/** Formats a value as lines: one per entry of a list or property of a record. */
function linesOf(value: unknown, words: Words): string[] {
  if (Array.isArray(value)) return listLines(value, words);
  if (typeof value !== "object" || value === null) return [wordsOf(value, words)].filter((line) => line !== "");
  return Object.entries(value).flatMap(([key, one]) => {
    const text = wordsOf(one, words);
    return text === "" ? [] : [`${labelOf(key, words)}: ${text}`];
  });
}

function listLines(entries: readonly unknown[], words: Words): string[] {
  const lines = entries
    .slice(0, mostLines)
    .map((entry) => wordsOf(entry, words))
    .filter((line) => line !== "");
  return entries.length > mostLines ? [...lines, words.t("data.more", { count: entries.length - mostLines })] : lines;
}

function wordsOf(value: unknown, words: Words): string {
  const { t, times } = words;
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return t(value ? "data.yes" : "data.no");
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return isTime(value) ? times.time(value) : value;
  if (Array.isArray(value)) return value.map((one) => wordsOf(one, words)).join(", ");
  return linesOf(value, words).join("; ");
}

/** The label of a property; its name in the contract if the texts have none. */
function labelOf(key: string, { t }: Words): string {
  return (known as readonly string[]).includes(key) ? t(`data.labels.${key}`) : key;
}

const known = [
  ...["id", "role", "status", "name", "firstFull", "firstCall", "last", "sourceSystemIdentifier", "softDeletedAt"],
  ...["purgeAt", "blockedAt", "createdAt", "firstSignInAt", "lastSignInAt", "username", "hasLogin", "hasPassword"],
  ...["homeSchoolId", "schools", "groups", "changedAt", "sessions", "clientId", "appName", "scopes", "grantedAt"],
  ...["what", "at", "until", "schoolId", "action", "since", "endsAt", "lastUsedAt", "apps", "personId", "actor"],
  ...["maySignIn", "isUser", "isPerson", "attributes", "consent", "kind", "detail", "names", "reason", "givenAt"],
] as const;
