import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, actOn, Refused, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { dayOf, readFilledIn, readRule, withTyped } from "./connection-form.ts";
import type { Connection, Update } from "./connection-form.ts";
import { base } from "./overview.ts";
import { listProviderSteps } from "./connection-form.ts";

export const one = `${base}/:connectionId`;

/** Errors: Refused upstream_connection_not_found, also for a connection of another school. */
export async function readConnection({ getRecord, path }: PageRequest): Promise<{ record: Connection; tag: string }> {
  const read = await getRecord("getUpstreamConnection");
  if (read.record.schoolId !== path.schoolId) throw new Refused(404, { code: "upstream_connection_not_found" });
  return read;
}

type Found = { check?: AdminSchemas["UpstreamCheck"]; preview?: AdminSchemas["UpstreamRulePreview"] };

export async function showConnection(request: PageRequest, { check, preview }: Found = {}): Promise<PageView> {
  const { call } = request;
  const { record, tag } = await readConnection(request);
  const [setUp, links] = await Promise.all([call("getUpstreamSetUp"), call("listSetUpLinks")]);
  const connection = withTyped(record, request);
  return makePage("connection", record.name, {
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
    mayTrust: request.permissions.reachesAll,
  });
}

/** Only what the reader may change: the trust is the operator's. */
export async function readSettings(request: PageRequest): Promise<Update> {
  const { reachesAll } = request.permissions;
  const { record } = await readConnection(request);
  return {
    name: request.field("name"),
    ...readFilledIn(request, record),
    createsGuests: request.field("createsGuests") === "on",
    ...(reachesAll && { trustedForSecondFactor: request.field("trustedForSecondFactor") === "on" }),
  };
}

const saveRule = actOn("updateUpstreamConnection", "ruleSaved", { fields: readRule });

/** Saves the rule, or only shows what it would do. */
export async function changeRule(request: PageRequest): Promise<Redirect | PageView> {
  await readConnection(request);
  if (request.field("preview") === "") return saveRule(request);
  return showConnection(request, { preview: await request.call("previewUpstreamRule", { body: readRule(request) }) });
}

export async function checkConnection(request: PageRequest): Promise<PageView> {
  await readConnection(request);
  return showConnection(request, { check: await request.call("updateUpstreamMetadata") });
}

export async function createSetUpLink(request: PageRequest): Promise<PageView> {
  const { record } = await readConnection(request);
  const link = await request.call("createSetUpLink", { body: { days: Number(request.field("days")) } });
  return makePage("set-up-link", request.t("setUpLink.title"), { link, name: record.name });
}
