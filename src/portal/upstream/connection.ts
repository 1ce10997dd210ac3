import type { AdminSchemas } from "../../admin/index.ts";
import { actOn, Refused, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { dayOf, readClasses, readFilledIn, readRule, withTyped } from "./connection-form.ts";
import type { Connection, Update } from "./connection-form.ts";
import { base } from "./overview.ts";
import { listProviderSteps } from "./provider-steps.ts";

export const one = `${base}/:connectionId`;

/** Errors: Refused upstream_connection_not_found, also for a connection of another school. */
export async function readConnection({ getRecord, path }: PageRequest): Promise<{ record: Connection; tag: string }> {
  const read = await getRecord("getUpstreamConnection");
  if (read.record.schoolId !== path.schoolId) throw new Refused(404, { code: "upstream_connection_not_found" });
  return read;
}

type Found = { check?: AdminSchemas["UpstreamCheck"]; preview?: AdminSchemas["UpstreamRulePreview"] };

export async function showConnection(request: PageRequest, { check, preview }: Found = {}): Promise<PageView> {
  const { call, at, may } = request;
  const { record, tag } = await readConnection(request);
  const [setUp, links] = await Promise.all([call("getUpstreamSetUp"), call("listSetUpLinks")]);
  const connection = withTyped(record, request);
  const model = {
    address: at(one),
    back: at(base),
    connection,
    tag,
    classes: setUp.classes,
    people: setUp.people,
    ruleClaims: setUp.ruleClaims,
    openLinks: links.filter(({ closedAt, expiresAt }) => closedAt === null && new Date(expiresAt) > request.now),
    steps: listProviderSteps(record),
    secretExpiresOn: dayOf(connection.secretExpiresAt),
    check: check ?? null,
    preview: preview ?? null,
    previewField: connection.ruleField,
    mayChange: may("updateUpstreamConnection"),
    mayTrust: request.permissions.reachesAll,
  };
  return { title: record.name, view: "connection", model };
}

const change = (done: string, read: (request: PageRequest, connection: Connection) => Update) =>
  async function changeConnection(request: PageRequest): Promise<Redirect> {
    const { record } = await readConnection(request);
    await request.call("updateUpstreamConnection", { body: read(request, record) });
    return { to: request.at(one), done };
  };

/** Only what the reader may change: the trust is the operator's. */
const readSettings = (request: PageRequest, connection: Connection): Update => ({
  name: request.field("name"),
  ...readFilledIn(request, connection),
  createsGuests: request.field("createsGuests") === "on",
  ...(request.permissions.reachesAll && { trustedForSecondFactor: request.field("trustedForSecondFactor") === "on" }),
});

export const changeSettings = change("connectionChanged", readSettings);
const saveRule = change("ruleSaved", readRule);
export const switchOn = change("connectionOn", (request) => ({ state: "ON", groupIds: readClasses(request) }));
export const confirmForStaff = change("connectionConfirmed", () => ({ confirmedForStaff: true }));
export const switchOff = change("connectionOff", () => ({ state: "OFF" }));

/** Saves the rule, or only shows what it would do. */
export async function changeRule(request: PageRequest): Promise<Redirect | PageView> {
  if (request.field("preview") === "") return saveRule(request);
  await readConnection(request);
  return showConnection(request, { preview: await request.call("previewUpstreamRule", { body: readRule(request) }) });
}

export async function checkConnection(request: PageRequest): Promise<PageView> {
  await readConnection(request);
  return showConnection(request, { check: await request.call("updateUpstreamMetadata") });
}

const remove = actOn("deleteUpstreamConnection", { to: base, done: "connectionDeleted" });

export async function deleteConnection(request: PageRequest): Promise<Redirect> {
  await readConnection(request);
  return remove(request);
}

export async function createSetUpLink(request: PageRequest): Promise<PageView> {
  const { record } = await readConnection(request);
  const link = await request.call("createSetUpLink", { body: { days: Number(request.field("days")) } });
  const model = { address: request.at(one), link, name: record.name };
  return { title: request.t("setUpLink.title"), view: "set-up-link", model };
}
