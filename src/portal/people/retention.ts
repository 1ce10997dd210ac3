import { ifMatch, nameOf, postAndRedirect, unwrapRecord, type PageRequest, type PageView } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";

const retention = "/admin/v1/people/{personId}/retention";
const retentionOf = (request: PageRequest): string => `${addressOf(request)}/retention`;

/** When and why a person is deleted, and until when staff keep them. */
export async function showRetention(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const [{ record: person }, { record, tag }] = await Promise.all([
    readPerson(request),
    unwrapRecord(api.GET(retention, { params: { path } })),
  ]);
  const model = {
    base: addressOf(request),
    fullName: nameOf(person, request),
    retention: record,
    tag,
    mayKeep: request.may("putRetentionExemption"),
  };
  return { title: t("frame.pages.operator_retention"), view: "retention", model };
}

export const keep = postAndRedirect("personKept", retentionOf, (request) => {
  const { api, path, field } = request;
  const body = { until: field("until"), reason: field("keptReason") };
  return api.PUT(`${retention}/exemption`, { params: { path, header: ifMatch(request) }, body });
});

export const endKeeping = postAndRedirect("personNotKept", retentionOf, ({ api, path }) =>
  api.DELETE(`${retention}/exemption`, { params: { path } }),
);
