import standard from "./standard.json" with { type: "json" };

export type Version = "1.4" | "1.5" | "1.6" | "1.7" | "1.8";

const { codes, texts, objects } = standard;
type ByVersion = Readonly<Record<string, string>>;

/** Of a table by version, what the version has, the latest last. */
const upTo = (table: ByVersion, version: Version): string[] =>
  Object.entries(table).flatMap(([since, value]) => (since <= version ? value : []));

/** `came` and `expected` quote nothing of the record but codes. */
export type RecordFault = { isCode: boolean; came: string; expected: string };

/** Finds what of a record differs from the standard. A name with a star in the table is a required field. */
export function findRecordFaults(record: unknown, version: Version): RecordFault[] {
  const faults: RecordFault[] = [];
  const wrong = (path: string, came: string, expected: string, isCode = false) =>
    void faults.push({ isCode, came: `${path || "the record"}: ${came}`, expected });
  const walk = (type: string, value: unknown, path: string): void => {
    const isList = type.endsWith("[]");
    const fields = (objects as Record<string, ByVersion>)[type];
    if (isList || fields !== undefined) {
      if (isList !== Array.isArray(value) || typeof value !== "object" || value === null)
        return wrong(path, kindOf(value), isList ? "a list" : "an object");
      if (isList) for (const entry of value as unknown[]) walk(type.slice(0, -2), entry, `${path}[]`);
      for (const [written, inner] of Object.entries(fields ?? {})) {
        const field = written.replace("*", "");
        const found = at(value, field) ?? null;
        if (found !== null) walk(inner, found, path === "" ? field : `${path}.${field}`);
        else if (field !== written) wrong(`${path}.${field}`.replace(/^\./, ""), "missing", "a required field");
      }
    } else if (typeof value !== "string") wrong(path, kindOf(value), "a text");
    else if (type in codes) {
      const known = upTo((codes as Record<string, ByVersion>)[type]!, version).join(" ");
      if (known.toLowerCase().split(" ").includes(value.toLowerCase())) return;
      // A name in the place of a code is not repeated.
      const isShown = /^[A-Za-z0-9_-]{1,16}$/.test(value) && !namesOf(record).includes(value.toLowerCase());
      wrong(path, isShown ? value : `a text of ${value.length} characters`, `a code of ${type}: ${known}`, true);
    } else {
      const pattern = upTo((texts as Record<string, ByVersion>)[type]!, version).at(-1)!;
      if (!new RegExp(pattern, "s").test(value)) wrong(path, "another text", `a text of the form ${pattern}`);
    }
  };
  walk("Datensatz", record, "");
  return faults;
}

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;

/** What is at a path of names; undefined where there is nothing. */
export const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (found, name) =>
      typeof found === "object" && found !== null ? (found as Record<string, unknown>)[name] : undefined,
    value,
  );
export const textAt = (value: unknown, ...path: string[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
export const listAt = (value: unknown, ...path: string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** The words of a person's names in lower case. */
export function namesOf(record: unknown): string[] {
  const names = Object.values(at(record, "person", "name") ?? {}).flat() as unknown[];
  return names.flatMap((name) => (typeof name === "string" ? wordsOf(name) : []));
}

export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Finds what `vollstaendig` left out, or did not leave out, of a record; null if it is as it should be. */
export function findPartFault(whole: unknown, part: unknown, named: readonly string[]): string | null {
  const contexts = listAt(part, "personenkontexte");
  const organisations = [
    at(part, "person", "stammorganisation"),
    ...contexts.map((context) => at(context, "organisation")),
  ];
  const hasPerson = at(part, "person") !== undefined;
  if (hasPerson !== (named.includes("personen") && at(whole, "person") !== undefined))
    return hasPerson ? "person" : "no person";
  if (contexts.length !== listAt(whole, "personenkontexte").length) return "another number of personenkontexte";
  if (!named.includes("gruppen") && contexts.some((context) => at(context, "gruppen") !== undefined)) return "gruppen";
  const isLong = (organisation: unknown) => Object.keys(organisation ?? {}).some((field) => field !== "id");
  return !named.includes("organisationen") && organisations.some(isLong) ? "more of an organisation than its id" : null;
}
