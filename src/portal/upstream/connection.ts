import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, postAndRedirect, Refused, unwrap, unwrapPage, unwrapRecord } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { dayOf, readClasses, readFilledIn, readRule, withTyped } from "./connection-form.ts";
import type { Connection, Update } from "./connection-form.ts";
import { listProviderSteps } from "./provider-steps.ts";

export const one = "/admin/v1/upstream-connections/{connectionId}";

export const ownLoginAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/own-login`;
export const connectionAddress = (request: PageRequest): string =>
  `${ownLoginAddress(request)}/${request.path.connectionId}`;

/** Errors: Refused upstream_connection_not_found, also for a connection of another school. */
export async function readConnection({ api, path }: PageRequest): Promise<{ record: Connection; tag: string }> {
  const found = await unwrapRecord(api.GET(one, { params: { path } }));
  if (found.record.schoolId !== path.schoolId) throw new Refused(404, { code: "upstream_connection_not_found" });
  return found;
}

type Found = { check?: AdminSchemas["UpstreamCheck"]; preview?: AdminSchemas["UpstreamRulePreview"] };

async function show(request: PageRequest, found: Found = {}): Promise<PageView> {
  const { api, path, may } = request;
  const { record, tag } = await readConnection(request);
  const [setUp, links] = await Promise.all([
    unwrap(api.GET(`${one}/set-up`, { params: { path } })),
    unwrapPage(api.GET(`${one}/set-up-links`, { params: { path } })),
  ]);
  const connection = withTyped(record, request);
  const model = {
    address: connectionAddress(request),
    back: ownLoginAddress(request),
    connection,
    tag,
    classes: setUp.classes,
    people: setUp.people,
    ruleClaims: setUp.ruleClaims,
    openLinks: links.items.filter(({ closedAt, expiresAt }) => closedAt === null && new Date(expiresAt) > request.now),
    steps: listProviderSteps(record),
    secretExpiresOn: dayOf(connection.secretExpiresAt),
    check: found.check ?? null,
    preview: found.preview ?? null,
    previewField: connection.ruleField,
    mayChange: may("updateUpstreamConnection"),
    mayTrust: request.permissions.reachesAll,
  };
  return { title: record.name, view: "connection", model };
}

export const showConnection = (request: PageRequest): Promise<PageView> => show(request);

const change = (done: string, read: (request: PageRequest, connection: Connection) => Update) =>
  async function changeConnection(request: PageRequest): Promise<Redirect> {
    const { api, path } = request;
    const { record } = await readConnection(request);
    const params = { path, header: ifMatch(request) };
    await unwrap(api.PATCH(one, { params, body: read(request, record) }));
    return { to: connectionAddress(request), done };
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
  const call = request.api.POST(`${one}/rule-preview`, { params: { path: request.path }, body: readRule(request) });
  return show(request, { preview: await unwrap(call) });
}

export async function checkConnection(request: PageRequest): Promise<PageView> {
  await readConnection(request);
  return show(request, {
    check: await unwrap(request.api.POST(`${one}/metadata`, { params: { path: request.path } })),
  });
}

export async function deleteConnection(request: PageRequest): Promise<Redirect> {
  await readConnection(request);
  await unwrap(request.api.DELETE(one, { params: { path: request.path, header: ifMatch(request) } }));
  return { to: ownLoginAddress(request), done: "connectionDeleted" };
}

export async function createSetUpLink(request: PageRequest): Promise<PageView> {
  const { api, path, t, field, idempotencyKey } = request;
  const { record } = await readConnection(request);
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const link = await unwrap(api.POST(`${one}/set-up-links`, { params, body: { days: Number(field("days")) } }));
  const model = { address: connectionAddress(request), link, name: record.name };
  return { title: t("setUpLink.title"), view: "set-up-link", model };
}

export const closeSetUpLink = postAndRedirect("setUpLinkClosed", connectionAddress, ({ api, path }) =>
  api.DELETE(`${one}/set-up-links/{setUpLinkId}`, { params: { path } }),
);
