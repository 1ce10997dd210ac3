import type { AdminSchemas } from "../../admin/index.ts";
import { adviseSent, adviseSignOn, errorDocs, signOnDocs } from "../../platform/advice/sign-on/index.ts";
import { compareLine, describeAction, nameActions } from "../frame/index.ts";
import type { Difference, PageView, PageRequest } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import { showAppPage } from "./app-page.ts";

type Line = AdminSchemas["AuditLine"];
type Attempt = AdminSchemas["SignOnAttempt"];
type Sent = AdminSchemas["SignOnParameter"];

const requestIds = /^[A-Za-z0-9][A-Za-z0-9._-]{5,63}$/;
/** The result of a search that cannot match. */
const nothing = { items: [], more: null };

/** The search for a request; with `isFit` false nothing can be found. */
function readRequestId({ query }: PageRequest): { requestId: string; isFit: boolean } {
  const requestId = query("request");
  return { requestId, isFit: requestId === "" || requestIds.test(requestId) };
}

export async function listRequests(request: PageRequest): Promise<PageView> {
  const { list, query } = request;
  const { requestId, isFit } = readRequestId(request);
  const onlyRefused = query("refused") === "yes";
  const filters = { "request-id": requestId, "only-refused": onlyRefused || null };
  const { items, more } = isFit ? await list("listApiRequests", { query: filters }) : nothing;
  return showAppPage(request, "requests", { requests: items, requestId, onlyRefused, more });
}

const knownSteps: readonly string[] = Object.keys(german.signOns.step);
const outcomes = ["done", "waiting", "refused"] as const;

/** Recent sign-ons step by step, without names. */
export async function listSignOns(request: PageRequest): Promise<PageView> {
  const { list, query } = request;
  const { requestId, isFit } = readRequestId(request);
  const outcome = outcomes.find((one) => one === query("outcome"));
  const filters = { "request-id": requestId, outcome };
  const { items, more } = isFit ? await list("listSignOnAttempts", { query: filters }) : nothing;
  return showAppPage(request, "sign-ons", {
    attempts: items.map((attempt) => presentAttempt(request, attempt)),
    more,
    requestId,
    outcome: outcome ?? "",
    outcomes,
    docs: signOnDocs,
  });
}

function presentAttempt(request: PageRequest, { steps }: Attempt) {
  const advised = adviseSignOn(steps);
  const last = steps.at(-1)!;
  return {
    outcome: outcomeOf(steps),
    at: steps[0]!.at,
    end: nameStep(request, last),
    why: last.reason ?? last.code,
    steps: steps.map((step, index) => ({
      ...step,
      name: nameStep(request, step),
      docs: errorDocs(step),
      advice: advised?.index === index ? advised.advice : null,
      sent: (step.sent ?? []).map((one) => presentSent(request, one)),
      hasProblem: (step.sent ?? []).some(({ problem }) => problem !== null),
    })),
  };
}

const nameStep = ({ t }: PageRequest, { step }: { step: string }): string =>
  knownSteps.includes(step) ? t(`signOns.step.${step}`) : step;

function presentSent({ t, locale }: PageRequest, { name, value, length, problem, advice }: Sent) {
  const hidden = length === null ? t("signOns.notSent") : t("signOns.hidden", { length });
  const advised = problem === null ? null : (adviseSent({ problem }, locale) ?? advice ?? problem);
  return { name, value, hidden, mend: advised };
}

function outcomeOf(steps: Attempt["steps"]): (typeof outcomes)[number] {
  if (steps.at(-1)!.outcome === "refused") return "refused";
  return steps.some(({ step, outcome }) => step === "token" && outcome === "done") ? "done" : "waiting";
}

/** The actions of the log of an app. Those that only the operator asks for are not offered. */
const actionsOfApps =
  /^(app_(?!deleted|suspended|resumed)|id_move|client_|scope|grant_|sign_on_|sync|attributes_|agreement_|consent_(?!denied)|webhook_|sandbox_|sign_in_refused|token_reused|staff_role_)/;

/** Changes of the app with the role of the person, without names. */
export async function listLog(request: PageRequest): Promise<PageView> {
  const { list, path, query, t } = request;
  const actions = nameActions(actionsOfApps, request);
  const action = actions.find(({ id }) => id === query("action"))?.id;
  const { items, more } = await list("listAudit", { query: { app: path.clientId, action } });
  return showAppPage(request, "log", {
    actions,
    action: action ?? "",
    lines: items.map((line) => ({
      ...line,
      what: describeAction(line.action, t),
      by: nameActor(line, t),
      changes: differencesOf(line, request),
    })),
    more,
  });
}

function nameActor({ actor, names }: Line, t: PageRequest["t"]): string {
  if (actor.role !== "NONE") return t(`staffRoles.${actor.role}`);
  return names.actorApp ?? actor.clientId ?? actor.program ?? t("words.nobodyRecorded");
}

const longest = 300;
const shorten = (text: string): string => (text.length > longest ? `${text.slice(0, longest)} …` : text);

const differencesOf = (line: Line, { t, times }: PageRequest): Difference[] =>
  compareLine(line, { t, times, names: new Map() }).map(({ name, before, after }) => ({
    name,
    before: shorten(before),
    after: shorten(after),
  }));
