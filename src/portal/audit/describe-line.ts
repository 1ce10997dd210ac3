import type { AdminSchemas } from "../../admin/index.ts";
import { compareLine, describeAction, type Difference, type Names, type PageRequest } from "../frame/index.ts";

export type Line = AdminSchemas["AuditLine"];

/** An audit line as text; "" for parts that do not apply. */
type DescribedLine = {
  what: string;
  by: string;
  role: string;
  whom: string;
  through: string;
  differences: Difference[];
};

export function describeLine(line: Line, { t, times }: Pick<PageRequest, "t" | "times">, names: Names): DescribedLine {
  const { actor, action } = line;
  const whole = (name: AdminSchemas["PersonName"]): string => (name === null ? "" : `${name.firstCall} ${name.last}`);
  const by = whole(line.names.actor) || (line.names.actorApp ?? "") || describeProgram(actor, t);
  return {
    what: describeAction(action, t),
    by,
    role: actor.role === "NONE" ? "" : t(`staffRoles.${actor.role}`),
    whom: whole(line.names.person) || (line.personId === null ? describeSubjects(line, t) : t("audit.nameless")),
    through: line.names.app ?? line.clientId ?? "",
    differences: compareLine(line, { t, times, names }),
  };
}

function describeProgram({ program, personId }: Line["actor"], t: PageRequest["t"]): string {
  if (personId !== null) return t("audit.nameless");
  return program === null ? t("words.nobodyRecorded") : t("audit.program", { program });
}

/** What was done to many people: their groups or the file, and how many they are. */
function describeSubjects({ names: { groups, file }, detail }: Line, t: PageRequest["t"]): string {
  const count = detail["count"] ?? detail["people"];
  const people = typeof count === "number" ? t("audit.people", { count }) : "";
  return [...groups, file ?? "", people].filter(Boolean).join(", ");
}

/** The filters in the address. */
const filters = ["action", "person", "app", "from", "until"] as const;

export const readFilters = ({ query }: PageRequest): Record<string, string> =>
  Object.fromEntries(filters.flatMap((name) => (query(name) === "" ? [] : [[name, query(name)]])));

/** Days are those of the reader. */
export const queryOf = ({ path, query, times }: PageRequest) => ({
  school: path.schoolId,
  action: query("action") as AdminSchemas["AuditLine"]["action"],
  person: query("person"),
  app: query("app"),
  from: times.startOf(query("from")),
  until: times.startOf(query("until"), 1),
});
