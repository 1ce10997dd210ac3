import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { one, readImport } from "./import-record.ts";
import { readScope, scopeChoiceOf, scopeChoices } from "./list.ts";
import german from "./locales/de.json" with { type: "json" };

type NewColumns = AdminSchemas["ImportColumnsInput"];
type Use = NewColumns["uses"][number];

const uses = Object.keys(german.columns.use) as Use[];
const roles = Object.keys(german.columns.roles) as NewColumns["role"][];

const encodings = Object.keys(german.columns.encodings) as NonNullable<NewColumns["encoding"]>[];
const separators = Object.keys(german.columns.separators) as NonNullable<NewColumns["separator"]>[];

/** A table with more columns shows only those with a meaning; the others stay ignored. */
const mostShown = 100;

export async function showColumns(request: PageRequest): Promise<PageView> {
  const { field, refused, t } = request;
  const [read, guessed] = await Promise.all([readImport(request), request.call("getImportColumns")]);
  const typed = refused === null ? null : field;
  const { columns, role, className, idFromName } = guessed;
  const chosen = {
    role: typed?.("role") ?? role,
    className: typed?.("className") ?? className ?? "",
    idFromName: typed === null ? idFromName : typed("idFromName") !== "",
    mode: typed?.("mode") ?? scopeChoiceOf(guessed),
  };
  const rows = columns
    .map((column, index) => ({ ...column, index, use: typed?.(`use${index}`) ?? column.use }))
    .filter(({ index }) => index < mostShown || columns[index]!.use !== "IGNORED");
  const isMissing = (...needed: Use[]) => !columns.some(({ use }) => needed.includes(use));
  return makePage("columns", t("columns.title"), {
    read,
    found: guessed,
    rows,
    more: columns.length - rows.length,
    chosen,
    uses,
    roles,
    scopeChoices,
    // UTF-16 is known by its first bytes.
    encodings: guessed.sheet === null && !guessed.encoding.startsWith("utf-16") ? encodings : [],
    separators: guessed.sheet === null ? separators : [],
    hasNoId: isMissing("ID"),
    canMakeIds: !isMissing("BIRTH_DATE"),
    hasRoles: !isMissing("ROLE"),
    hasClasses: !isMissing("CLASSES"),
  });
}

export async function mapColumns(request: PageRequest): Promise<Redirect> {
  const { field } = request;
  const guessed = await request.call("getImportColumns");
  const { columns, role, className, idFromName, mode, people } = guessed;
  const again = field("look") === "" ? null : readReading(request);
  const isSame = (["sheet", "encoding", "separator"] as const).every(
    (name) => (again?.[name] ?? guessed[name]) === guessed[name],
  );
  if (again !== null && isSame) return { to: `${request.at(one)}/columns` };
  const body: NewColumns =
    again !== null
      ? { role, className, idFromName, mode, people, uses: columns.map(({ use }) => use), ...again }
      : {
          uses: columns.map((_, index) => uses.find((use) => use === field(`use${index}`)) ?? "IGNORED"),
          role: roles.find((role) => role === field("role")) ?? "COLUMN",
          className: field("className") || null,
          idFromName: field("idFromName") !== "",
          ...(readScope(field("mode")) ?? { mode: "DELTA" as const }),
        };
  const made = await request.call("putImportColumns", { body });
  return { to: `${request.at(one)}${made.state === "UNMAPPED" ? "/columns" : ""}` };
}

/** A select that the page does not have is empty. */
function readReading({ field }: PageRequest): Pick<NewColumns, "sheet" | "encoding" | "separator"> {
  const sheet = field("sheet");
  const encoding = encodings.find((name) => name === field("encoding"));
  const separator = separators.find((name) => name === field("separator"));
  return { ...(sheet !== "" && { sheet }), ...(encoding && { encoding }), ...(separator && { separator }) };
}
