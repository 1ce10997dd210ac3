import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, nameOf, postAndRedirect, unwrap, unwrapPage, unwrapRecord } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { readPolicy, shownFields, suggestionFor } from "./policy-form.ts";

const retention = "/admin/v1/schools/{schoolId}/retention";
const dayMs = 86_400_000;
const addressOf = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/retention`;

/** How far ahead the page lists people. */
const days = 90;
/** The most that the API looks ahead. */
const mostDays = 3650;
const mostNamed = 100;

type Preview = AdminSchemas["RetentionPreview"];

type Due = AdminSchemas["RetentionDuePerson"];

/** Everybody whom the present policy deletes, next ones first. */
async function listDue({ api, path }: PageRequest): Promise<Due[]> {
  const found: Due[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = { days: mostDays, limit: 1000, ...(cursor !== "" && { cursor }) };
    const page: { items: Due[]; next: string | null } = await unwrapPage(
      api.GET(`${retention}/people`, { params: { path, query } }),
    );
    found.push(...page.items);
    cursor = page.next;
  }
  return found;
}

/** In the days of the notice, as Today counts them; until the page's horizon; and how many after it, from when. */
function divideDue(people: readonly Due[], noticeDays: number, now: Date) {
  const after = (ahead: number) => new Date(now.getTime() + ahead * dayMs).toISOString();
  const [notice, horizon] = [after(noticeDays), after(Math.max(days, noticeDays))];
  const rest = people.filter(({ dueAt }) => dueAt > horizon);
  return {
    soon: people.filter(({ dueAt }) => dueAt <= notice),
    later: people.filter(({ dueAt }) => dueAt > notice && dueAt <= horizon),
    rest: rest[0] === undefined ? null : { count: rest.length, from: rest[0].dueAt },
  };
}

async function show(request: PageRequest, shown: Preview | null): Promise<PageView> {
  const { api, path, t } = request;
  const [{ record, tag }, school, people] = await Promise.all([
    unwrapRecord(api.GET(retention, { params: { path } })),
    unwrap(api.GET("/admin/v1/schools/{schoolId}", { params: { path } })),
    listDue(request),
  ]);
  const suggestion = suggestionFor(`${school.location.country}-${school.location.state}`, request);
  const withName = (one: Preview["first"][number]) => ({ ...one, name: nameOf(one, request) });
  const { soon, later, rest } = divideDue(people, record.noticeDays, request.now);
  const model = {
    address: addressOf(request),
    settings: `/admin/schools/${path.schoolId}/settings`,
    people: `/admin/schools/${path.schoolId}/people`,
    retention: record,
    tag,
    due: [
      ["soon", soon.length, soon.slice(0, mostNamed).map(withName)],
      ["later", later.length, later.slice(0, mostNamed).map(withName)],
    ],
    rest,
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
