import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, nameOf, postAndRedirect, unwrap, unwrapRecord } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { readPolicy, shownFields, suggestionFor } from "./policy-form.ts";

const retention = "/admin/v1/schools/{schoolId}/retention";
const addressOf = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/retention`;

/** How far ahead the page looks. */
const days = 90;

type Preview = AdminSchemas["RetentionPreview"];

async function show(request: PageRequest, shown: Preview | null): Promise<PageView> {
  const { api, path, t } = request;
  const query = { days, limit: 100 };
  const [{ record, tag }, school, people] = await Promise.all([
    unwrapRecord(api.GET(retention, { params: { path } })),
    unwrap(api.GET("/admin/v1/schools/{schoolId}", { params: { path } })),
    unwrap(api.GET(`${retention}/people`, { params: { path, query } })),
  ]);
  const suggestion = suggestionFor(`${school.location.country}-${school.location.state}`, request);
  const withName = (one: Preview["first"][number]) => ({ ...one, name: nameOf(one, request) });
  const model = {
    address: addressOf(request),
    settings: `/admin/schools/${path.schoolId}/settings`,
    people: `/admin/schools/${path.schoolId}/people`,
    retention: record,
    tag,
    due: people.map(withName),
    preview: shown && { ...shown, first: shown.first.map(withName) },
    days,
    fields: shownFields(request, record.policy, suggestion),
    hasSuggestion: suggestion !== null,
    mayChange: request.may("putRetention"),
  };
  return { title: t("frame.pages.operator_retention"), view: "school", model };
}

export const showSchool = (request: PageRequest): Promise<PageView> => show(request, null);

/** Shows whom the policy of the form would concern; nothing is saved. */
async function preview(request: PageRequest): Promise<PageView> {
  const { api, path, field } = request;
  const body = { days, policy: readPolicy(field) };
  return show(request, await unwrap(api.POST(`${retention}/preview`, { params: { path }, body })));
}

const set = postAndRedirect("retentionSet", addressOf, (request) => {
  const params = { path: request.path, header: ifMatch(request) };
  return request.api.PUT(retention, { params, body: readPolicy(request.field) });
});

/** Saves the policy, or only shows whom it would concern. */
export const setSchool = (request: PageRequest): Promise<PageView | Redirect> =>
  request.field("preview") === "" ? set(request) : preview(request);

export const releaseRun = postAndRedirect("retentionReleased", addressOf, ({ api, path, field }) =>
  api.POST(`${retention}/release`, { params: { path }, body: { people: Number(field("people")) } }),
);
