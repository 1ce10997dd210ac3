import type { DataOf, AdminSchemas } from "../../admin/index.ts";
import { suggestPolicy } from "../../admin/index.ts";
import { makePage, actOn, makeArea, callName, onlyIf, type PageRequest } from "../frame/index.ts";

type Policy = AdminSchemas["RetentionPolicy"];

/** `/admin/schools/:schoolId/retention`: for how long a school keeps people and its audit log. */
export const retentionPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const onSchool = pages.at(
    "/admin/schools/:schoolId/retention",
    onlyIf("getRetention", (request) => showSchool(request)),
  );
  onSchool.post("", setSchool);
  onSchool.act("release", "releaseRetention", "retentionReleased", { fields: ["people"] });
});

/** `/admin/retention`: the policies of states. */
export const stateRetentionPages = makeArea({ folder: import.meta.dirname, page: "operator_retention" }, (pages) => {
  const show = onlyIf("getServiceRetention", (request) => showService(request));
  pages.at("/admin/retention", show).post("policy", setState);
});

const dayMs = 86_400_000;
/** How far ahead the pages list people. */
const days = 90;
/** The most that the API looks ahead. */
const mostDays = 3650;
const mostNamed = 100;

/** What the form of a policy shows: what was typed, the suggestion that the reader asked for, or the policy. */
function fieldsOf({ query, field, typed }: PageRequest, present: Policy, suggestion: Policy | null) {
  const policy = query("suggestion") === "" || suggestion === null ? present : suggestion;
  const { leftMonths, inactiveMonths } = policy;
  const values = Object.entries(policy).flatMap(([name, period]) => [
    [name, period === null ? "" : String(period.value)] as const,
    [`${name}Reason`, period?.reason ?? ""] as const,
  ]);
  return {
    ...Object.fromEntries(values),
    leftFrom: leftMonths?.from ?? "LEAVING",
    includesRoster: inactiveMonths?.includesRoster === true ? "on" : "",
    ...(typed["leftFrom"] && { leftFrom: field("leftFrom"), includesRoster: field("includesRoster") }),
  };
}

/** Reads the form; a reason without a value belongs to nothing. */
function readPolicy({ field }: PageRequest): Policy {
  const read = (name: keyof Policy) =>
    field(name) === "" ? null : { value: Number(field(name)), reason: field(`${name}Reason`) };
  const [left, inactive] = [read("leftMonths"), read("inactiveMonths")];
  type From = NonNullable<Policy["leftMonths"]>["from"];
  return {
    leftMonths: left && { ...left, from: (field("leftFrom") || "LEAVING") as From },
    inactiveMonths: inactive && { ...inactive, includesRoster: field("includesRoster") === "on" },
    restoreDays: read("restoreDays"),
    auditDays: read("auditDays"),
  };
}

/** In the days of the notice, as Today counts them; until the page's horizon; and how many after it, from when. */
function divideDue(people: readonly AdminSchemas["RetentionDuePerson"][], noticeDays: number, now: Date) {
  const after = (ahead: number) => new Date(now.getTime() + ahead * dayMs).toISOString();
  const [notice, horizon] = [after(noticeDays), after(Math.max(days, noticeDays))];
  const rest = people.filter(({ dueAt }) => dueAt > horizon);
  return {
    soon: people.filter(({ dueAt }) => dueAt <= notice),
    later: people.filter(({ dueAt }) => dueAt > notice && dueAt <= horizon),
    rest: rest[0] === undefined ? null : { count: rest.length, from: rest[0].dueAt },
  };
}

const suggestionFor = (state: string, { t }: PageRequest): Policy | null =>
  suggestPolicy(state, (of) => t(`retention.suggestion.${of}`));

async function showSchool(request: PageRequest, preview: DataOf<"previewRetention"> | null = null) {
  const { call, getRecord, listAll, now, t } = request;
  const [{ record, tag }, { location }, people] = await Promise.all([
    getRecord("getRetention"),
    call("getSchool"),
    listAll("listRetentionPeople", { days: mostDays, limit: 1000 }),
  ]);
  const suggestion = suggestionFor(`${location.country}-${location.state}`, request);
  const withName = (one: { name: AdminSchemas["PersonName"] }) => ({ ...one, name: callName(one, request) });
  const { soon, later, rest } = divideDue(people, record.noticeDays, now);
  return makePage("school", t("frame.pages.operator_retention"), {
    retention: record,
    tag,
    due: [
      ["soon", soon.length, soon.slice(0, mostNamed).map(withName)],
      ["later", later.length, later.slice(0, mostNamed).map(withName)],
    ],
    rest,
    preview: preview && { ...preview, first: preview.first.map(withName) },
    days,
    fields: fieldsOf(request, record.policy, suggestion),
    hasSuggestion: suggestion !== null,
  });
}

const saveSchool = actOn("putRetention", "retentionSet", { fields: readPolicy });

/** Saves the policy, or only shows whom it would concern. */
async function setSchool(request: PageRequest) {
  if (request.field("preview") === "") return saveSchool(request);
  return showSchool(request, await request.call("previewRetention", { body: { days, policy: readPolicy(request) } }));
}

const country = "DE";
const states = "BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH".split(" ").map((code) => `${country}-${code}`);

const stateOf = ({ typed, field, query }: PageRequest): string => {
  const state = typed["state"] === undefined ? query("state") : field("state");
  return /^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(state) ? state : "";
};

/** The defaults and limits of the service and, of one state, its policy. */
async function showService(request: PageRequest, preview: DataOf<"previewStateRetention"> | null = null) {
  const state = stateOf(request);
  const read = await request.call("getServiceRetention");
  return makePage("state", request.t("frame.pages.operator_retention"), {
    service: read,
    state,
    states: [...new Set([...states, ...read.states])].sort(),
    preview,
    days,
    ...(state === "" ? {} : await readState(request, state)),
  });
}

async function readState(request: PageRequest, state: string) {
  const suggestion = suggestionFor(state, request);
  const { record, tag } = await request.getRecord("getStateRetention", { query: { state } });
  return { tag, fields: fieldsOf(request, record, suggestion), hasSuggestion: suggestion !== null };
}

/** Saves the policy, or only shows at which schools it would concern how many. */
async function setState(request: PageRequest) {
  const [state, policy] = [stateOf(request), readPolicy(request)];
  if (request.field("preview") !== "") {
    const body = { days, policy };
    return showService(request, await request.call("previewStateRetention", { query: { state, limit: 200 }, body }));
  }
  await request.call("putStateRetention", { query: { state }, body: policy });
  return { to: `${request.base}?state=${state}`, done: "retentionSet" };
}
