import {
  makePage,
  makeArea,
  onlyIf,
  readForm,
  Refused,
  type PageRequest,
  type PageView,
  type Redirect,
} from "../frame/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";

/** `/admin/schools/:schoolId/roster-connections`: rosters that are fetched from other programs. */
export const rosterConnectionPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  const onAll = pages.at(base, onlyIf("listRosterConnections", showConnections));
  onAll.form("new", createConnection, onlyIf("createRosterConnection", showNew));
  const onOne = pages.at(`${base}/:rosterConnectionId`, onlyIf("getRosterConnection", showConnection));
  const change = "updateRosterConnection";
  onOne.act("settings", change, "connectionChanged", { fields: readSettings });
  onOne.act("on", change, "connectionOn", { fields: () => ({ state: "ON" as const }) });
  onOne.act("off", change, "connectionOff", { fields: () => ({ state: "OFF" as const }) });
  onOne.post("test", run("testRosterConnection"));
  onOne.post("run", run("runRosterConnection"));
  onOne.act("deletion", "deleteRosterConnection", "connectionDeleted", { to: base });
});

const base = "/admin/schools/:schoolId/roster-connections";

type Connection = AdminSchemas["RosterConnection"];
type Source = AdminSchemas["RosterSource"];

const listSources = ({ call }: PageRequest): Promise<Source[]> => call("listRosterSources", { query: { limit: 50 } });

async function showConnections({ list, call, may, path, t }: PageRequest): Promise<PageView> {
  const { items, more } = await list("listRosterConnections", { query: { school: path.schoolId } });
  const mayCreate = may("createRosterConnection");
  const sources = mayCreate ? await call("listRosterSources", { query: { limit: 50 } }) : [];
  const kinds = sources.map(({ kind }) => kind);
  return makePage("list", t("connections.title"), { connections: items, more, kinds, isSent });
}

/** A program that sends its files decides when. */
const isSent = (kind: Source["kind"]): boolean => kind === "SFTP";

const fieldsOf = ({ kind, required, optional, secret }: Source) => [
  ...["name", ...required, ...optional, ...(secret === "NONE" ? [] : ["secret"])],
  ...(isSent(kind) ? [] : ["times", "daysOff", "pauseFrom", "pauseUntil"]),
  ...["applies", "notifyAddresses"],
];

/** Errors: Refused 404 for a kind that is not offered. */
async function chooseSource(request: PageRequest): Promise<Source> {
  const kind = request.query("kind") || request.field("kind");
  const source = (await listSources(request)).find((offered) => offered.kind === kind);
  if (source === undefined) throw new Refused(404, {});
  return source;
}

async function showNew(request: PageRequest): Promise<PageView> {
  const source = await chooseSource(request);
  return makePage("new", request.t("connections.new"), { source, isSent: isSent(source.kind) });
}

async function createConnection(request: PageRequest): Promise<Redirect> {
  const { call, path, base: here } = request;
  const source = await chooseSource(request);
  const read = readForm(request, "createRosterConnection", fieldsOf(source));
  const { id } = await call("createRosterConnection", {
    body: { ...read, kind: source.kind, schoolIds: [path.schoolId ?? ""] },
  });
  return { to: `${here}/${id}`, done: isSent(source.kind) ? "dropCreated" : "connectionCreated" };
}

/** The fields that the form names, which are those of its kind. An empty secret leaves the stored one. */
function readSettings(request: PageRequest): AdminSchemas["RosterConnectionUpdate"] {
  const named = request.field("fields").split(",").filter(Boolean);
  const names = named.filter((name) => name !== "secret" || request.field(name) !== "");
  return readForm(request, "updateRosterConnection", names);
}

/** Errors: Refused roster_connection_not_found, also for a connection of another school. */
async function readConnection({ getRecord, path }: PageRequest): Promise<{ record: Connection; tag: string }> {
  const read = await getRecord("getRosterConnection");
  if (!read.record.schoolIds.includes(path.schoolId ?? ""))
    throw new Refused(404, { code: "roster_connection_not_found" });
  return read;
}

async function showConnection(request: PageRequest): Promise<PageView> {
  const { at, list } = request;
  const { record, tag } = await readConnection(request);
  const [sources, { items, more }] = await Promise.all([listSources(request), list("listRosterRuns")]);
  const source = sources.find(({ kind }) => kind === record.kind) ?? null;
  return makePage("connection", record.name, {
    imports: at("/admin/schools/:schoolId/imports"),
    connection: record,
    tag,
    source,
    isSent: isSent(record.kind),
    fields: source === null ? "" : fieldsOf(source).join(","),
    runs: items,
    more,
  });
}

/** Shows the page with the new run on top, finished or not. */
const run = (operation: "testRosterConnection" | "runRosterConnection") =>
  async function begin(request: PageRequest): Promise<Redirect> {
    await readConnection(request);
    await request.call(operation);
    return { to: request.base };
  };
