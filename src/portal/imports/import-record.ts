import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, type PageRequest } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };

export type Import = AdminSchemas["Import"];
export type ImportSchool = AdminSchemas["ImportSchool"];

export const imports = "/admin/schools/:schoolId/imports";
export const exported = `${imports}/export`;
export const one = `${imports}/:importId`;

export const ofSchool = ({ path }: PageRequest) => ({ school: path.schoolId });

/** The import of the page. Errors: Refused if it does not affect the school of the page. */
export async function readImport({ call, path }: PageRequest): Promise<Import> {
  const [read] = await Promise.all([call("getImport"), call("getSchool")]);
  if (read.schools.length > 0 && !read.schools.some(({ id }) => id === path.schoolId))
    throw new Refused(404, { code: "import_not_found" });
  return read;
}

/** The part of the import for the school of the page; null while it is read, and if the file has errors. */
export const partOf = ({ schools }: Import, { path }: PageRequest): ImportSchool | null =>
  schools.find(({ id }) => id === path.schoolId) ?? null;

export const fullName = (name: AdminSchemas["PersonName"], { t }: PageRequest): string =>
  name === null ? t("frame.nameless") : `${name.firstFull} ${name.last}`;

/** Explains an error and its fix; uses the API's message if the code has no text. */
export function describeFault({ code, message, remedy }: AdminSchemas["ImportFault"], { t }: PageRequest) {
  if (!Object.hasOwn(german.faults, code)) return { wrong: message, remedy };
  const line = /\bline (\d+)/.exec(message)?.[1] ?? "?";
  return { wrong: t(`faults.${code}`, { line }), remedy: t(`remedies.${code}`) };
}

const steps = ["new", "movedIn", "movedOut", "left", "changed"] as const;

/** Describes the change of a group and its members, such as "2 new, 1 leaves". */
export function describeChange(change: AdminSchemas["ImportGroupChange"], { t }: PageRequest): string[] {
  const { step, previousName, members } = change;
  const ofGroup =
    step === "NONE"
      ? []
      : [t(`changes.step.${step}`, { name: previousName ?? "", context: previousName === null ? "" : "from" })];
  const ofMembers = steps
    .filter((one) => members[one] > 0)
    .map((one) => t(`changes.members.${one}`, { count: members[one] }));
  const words = [...ofGroup, ...ofMembers];
  return words.length === 0 ? [t("changes.same")] : words;
}
