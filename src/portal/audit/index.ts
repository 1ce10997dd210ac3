import { makePage, handCsv, listGroups, makeArea, nameActions, compareLine, describeAction } from "../frame/index.ts";
import type { CsvRow, Download, Names, PageRequest } from "../frame/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";

/** `/admin/schools/:schoolId/audit`: who did what to whom, before and after. */
export const auditPages = makeArea({ folder: import.meta.dirname, page: "audit" }, (pages) => {
  pages.at("/admin/schools/:schoolId/audit", listLines).get("file", handAuditCsv);
});

/** Without the actions of partners and of the service, which concern no school. */
const actionsAtSchools = /^(?!(?:app|client|lost|sandbox|scope|scopes|secrets|signing|token|webhook)_|.*_extended$)/;

async function listLines(request: PageRequest) {
  const { call, list, me, t, base } = request;
  const filters = readFilters(request);
  const [{ items, more }, apps, groups] = await Promise.all([
    list("listAudit", { query: queryOf(request) }),
    call("listCatalogue", { query: { granted: true, limit: 100 } }),
    listGroups(request),
  ]);
  const names: Names = new Map([...groups, ...me.schools].map(({ id, name }) => [id, name]));
  return makePage("list", t("frame.pages.audit"), {
    filters,
    withFilter: (name: string, value: string) =>
      `${base}?${new URLSearchParams({ ...filters, [name]: value }).toString()}`,
    apps,
    actions: nameActions(actionsAtSchools, request),
    lines: items.map((line) => ({ ...line, ...describeLine(line, request, names) })),
    file: `${base}/file?${new URLSearchParams(filters).toString()}`,
    more,
  });
}

const pageSize = 250;

const columns = ["at", "what", "action", "by", "role", "whom", "app", "before", "after", "requestId"] as const;

export const handAuditCsv = (request: PageRequest): Promise<Download> =>
  handCsv(request, {
    name: request.t("audit.fileName"),
    columns: columns.map((key) => ({ key, header: request.t(`audit.column.${key}`) })),
    async readPage(cursor) {
      const query = { ...queryOf(request), limit: pageSize, cursor };
      const { items, next } = await request.list("listAudit", { query });
      return { rows: items.map((line) => writeRow(line, request)), next };
    },
  });

function writeRow(line: Line, request: PageRequest): CsvRow {
  const { what, by, role, whom, through } = describeLine(line, request, new Map());
  return {
    at: line.at,
    what,
    action: line.action,
    by,
    role,
    whom,
    app: through,
    before: line.before === null ? "" : JSON.stringify(line.before),
    after: line.after === null ? "" : JSON.stringify(line.after),
    requestId: line.requestId ?? "",
  };
}

type Line = AdminSchemas["AuditLine"];

/** An audit line as text; "" for parts that do not apply. */
function describeLine(line: Line, { t, times }: Pick<PageRequest, "t" | "times">, names: Names) {
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

const filters = ["action", "person", "app", "from", "until"] as const;

const readFilters = ({ query }: PageRequest): Record<string, string> =>
  Object.fromEntries(filters.flatMap((name) => (query(name) === "" ? [] : [[name, query(name)]])));

/** Days are those of the reader. */
const queryOf = ({ path, query, times }: PageRequest) => ({
  school: path.schoolId,
  action: query("action") as AdminSchemas["AuditLine"]["action"],
  person: query("person"),
  app: query("app"),
  from: times.startOf(query("from")),
  until: times.startOf(query("until"), 1),
});
