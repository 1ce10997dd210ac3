import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, postAndRedirect, unwrap, unwrapRecord } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { readPolicy, shownFields, suggestionFor } from "./policy-form.ts";

const ofState = "/admin/v1/retention/state";
const country = "DE";
const states = "BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH".split(" ").map((code) => `${country}-${code}`);

/** How far ahead the preview looks. */
const days = 90;

const stateOf = ({ typed, field, query }: PageRequest): string => {
  const asked = typed["state"] === undefined ? query("state") : field("state");
  return /^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(asked) ? asked : "";
};

type Counts = AdminSchemas["RetentionCount"][];

async function readState(request: PageRequest, state: string) {
  const suggestion = suggestionFor(state, request);
  const { record, tag } = await unwrapRecord(request.api.GET(ofState, { params: { query: { state } } }));
  return { tag, fields: shownFields(request, record, suggestion), hasSuggestion: suggestion !== null };
}

async function show(request: PageRequest, shown: Counts | null): Promise<PageView> {
  const { api, t } = request;
  const state = stateOf(request);
  const service = await unwrap(api.GET("/admin/v1/retention"));
  const model = {
    address: "/admin/retention",
    service,
    state,
    states: [...new Set([...states, ...service.states])].sort(),
    preview: shown,
    days,
    ...(state === "" ? {} : await readState(request, state)),
  };
  return { title: t("frame.pages.operator_retention"), view: "state", model };
}

/** The defaults and limits of the service and, of one state, its policy. */
export const showState = (request: PageRequest): Promise<PageView> => show(request, null);

/** Shows at which schools the policy of the form would concern how many; nothing is saved. */
async function preview(request: PageRequest): Promise<PageView> {
  const body = { days, policy: readPolicy(request.field) };
  const params = { query: { state: stateOf(request), limit: 200 } };
  return show(request, await unwrap(request.api.POST(`${ofState}/preview`, { params, body })));
}

const set = postAndRedirect(
  "retentionSet",
  (request) => `/admin/retention?state=${stateOf(request)}`,
  (request) => {
    const params = { query: { state: stateOf(request) }, header: ifMatch(request) };
    return request.api.PUT(ofState, { params, body: readPolicy(request.field) });
  },
);

/** Saves the policy, or only shows at which schools it would concern how many. */
export const setState = (request: PageRequest): Promise<PageView | Redirect> =>
  request.field("preview") === "" ? set(request) : preview(request);
