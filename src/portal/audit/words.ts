import type { AdminSchemas } from "../../admin/index.ts";
import { isStaffRole, type Visit } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };

export type Line = AdminSchemas["AuditLine"];
/** What ids in a line stand for. */
export type Names = ReadonlyMap<string, string>;

/** The actions that have words. */
export const actions: readonly string[] = Object.keys(german.audit.action);

/** What differs. Shape: `name` is the name of a property in words, or the way to it. */
export type Difference = { name: string; before: string; after: string };

/** A line in words. Shape: "" for what there is nothing to say about. */
export type DescribedLine = {
  what: string;
  by: string;
  role: string;
  whom: string;
  through: string;
  differences: Difference[];
};

export function describeLine(line: Line, { t }: Pick<Visit, "t">, names: Names): DescribedLine {
  const { actor, action } = line;
  const whole = (name: AdminSchemas["PersonName"]): string => (name === null ? "" : `${name.firstCall} ${name.last}`);
  const by = whole(line.names.actor) || (line.names.actorApp ?? "") || describeProgram(actor, t);
  return {
    what: actions.includes(action) ? t(`audit.action.${action}`) : action,
    by,
    role: actor.role === null ? "" : t(`staffRoles.${actor.role}`),
    whom: whole(line.names.person) || (line.personId === null ? "" : t("audit.nameless")),
    through: line.names.app ?? line.clientId ?? "",
    differences: compare(line, { t, names }),
  };
}

function describeProgram({ program, personId }: Line["actor"], t: Visit["t"]): string {
  if (personId !== null) return t("audit.nameless");
  return program === null ? t("audit.nobody") : t("audit.program", { program });
}

type Writing = { t: Visit["t"]; names: Names };

function compare({ before, after, clientId, personId, schoolId }: Line, writing: Writing): Difference[] {
  // The line itself says of whom and of what it is.
  const ofLine: Record<string, unknown> = { clientId, personId, schoolId };
  const [old, now] = [flatten(before ?? {}), flatten(after ?? {})];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((name) => name !== "id" && !(name in ofLine && (now.get(name) ?? old.get(name)) === ofLine[name]))
    .map((name) => ({
      name: nameIn(name, writing),
      before: write(old.get(name), writing),
      after: write(now.get(name), writing),
    }))
    .filter(({ before: was, after: is }) => was !== is);
}

/** Writes the properties of a record beside each other: of one within another `address.city`. */
function flatten(record: object, way = ""): Map<string, unknown> {
  const entries = Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? [...flatten(value as object, `${way}${name}.`)]
      : [[way + name, value]],
  );
  return new Map(entries);
}

const known = german.audit.property as Record<string, string>;
const values = german.audit.value as Record<string, string>;

const nameIn = (way: string, { t }: Writing): string => {
  const name = way.split(".").at(-1)!;
  return name in known ? t(`audit.property.${name}`) : way;
};

function write(value: unknown, writing: Writing): string {
  const { t, names } = writing;
  if (value === undefined || value === null || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map((one) => write(one, writing)).join(", ");
  if (typeof value === "boolean") return t(value ? "audit.yes" : "audit.no");
  const text = typeof value === "object" ? JSON.stringify(value) : String(value as string | number);
  if (isStaffRole(text)) return t(`staffRoles.${text}`);
  return names.get(text) ?? (text in values ? t(`audit.value.${text}`) : text);
}
