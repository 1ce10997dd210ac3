import { makeArea, onlyIf, readForm, Refused, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";

/** `/admin/schools/:schoolId/roster-connections`: rosters that are fetched from other programs. */
export const rosterConnectionPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  pages.get(base, onlyIf("listRosterConnections", showConnections));
  pages.form(`${base}/new`, createConnection, onlyIf("createRosterConnection", showNew));
  const onOne = { to: one, again: onlyIf("getRosterConnection", showConnection) };
  pages.get(one, onOne.again);
  pages.act(`${one}/settings`, "updateRosterConnection", { ...onOne, fields: readSettings, done: "connectionChanged" });
  pages.act(`${one}/on`, "updateRosterConnection", {
    ...onOne,
    fields: () => ({ state: "ON" as const }),
    done: "connectionOn",
  });
  pages.act(`${one}/off`, "updateRosterConnection", {
    ...onOne,
    fields: () => ({ state: "OFF" as const }),
    done: "connectionOff",
  });
  pages.post(`${one}/test`, run("testRosterConnection"), onOne.again);
  pages.post(`${one}/run`, run("runRosterConnection"), onOne.again);
  pages.act(`${one}/deletion`, "deleteRosterConnection", { to: base, again: onOne.again, done: "connectionDeleted" });
});

const base = "/admin/schools/:schoolId/roster-connections";
const one = `${base}/:rosterConnectionId`;

type Connection = AdminSchemas["RosterConnection"];
type Source = AdminSchemas["RosterSource"];

const listSources = ({ call }: PageRequest): Promise<Source[]> => call("listRosterSources", { query: { limit: 50 } });

async function showConnections({ list, call, at, may, path, t }: PageRequest): Promise<PageView> {
  const { items, more } = await list("listRosterConnections", { query: { school: path.schoolId } });
  const mayCreate = may("createRosterConnection");
  const sources = mayCreate ? await call("listRosterSources", { query: { limit: 50 } }) : [];
  const kinds = sources.map(({ kind }) => kind);
  const model = { address: at(base), connections: items, more: more(at(base)), kinds, isSent };
  return { title: t("connections.title"), view: "list", model };
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
  const model = { address: request.at(base), source, isSent: isSent(source.kind) };
  return { title: request.t("connections.new"), view: "new", model };
}

async function createConnection(request: PageRequest): Promise<Redirect> {
  const { call, at, path } = request;
  const source = await chooseSource(request);
  const read = readForm(request, "createRosterConnection", fieldsOf(source));
  const { id } = await call("createRosterConnection", {
    body: { ...read, kind: source.kind, schoolIds: [path.schoolId ?? ""] },
  });
  return { to: `${at(base)}/${id}`, done: isSent(source.kind) ? "dropCreated" : "connectionCreated" };
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
  const model = {
    address: at(one),
    back: at(base),
    imports: at("/admin/schools/:schoolId/imports"),
    connection: record,
    tag,
    source,
    isSent: isSent(record.kind),
    fields: source === null ? "" : fieldsOf(source).join(","),
    runs: items,
    more: more(at(one)),
  };
  return { title: record.name, view: "connection", model };
}

/** Shows the page with the new run on top; one that goes on is there as well. */
const run = (operation: "testRosterConnection" | "runRosterConnection") =>
  async function begin(request: PageRequest): Promise<Redirect> {
    await readConnection(request);
    await request.call(operation);
    return { to: request.at(one) };
  };
