import type { AdminSchemas } from "../../admin/index.ts";
import { adviseSent, adviseSignOn, errorDocs, signOnDocs } from "../../platform/advice/sign-on/index.ts";
import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import { addressOf, showAppPage } from "./app-page.ts";
import { readRequestId } from "./requests.ts";

type Attempt = AdminSchemas["SignOnAttempt"];
type Sent = AdminSchemas["SignOnParameter"];

const knownSteps: readonly string[] = Object.keys(german.signOns.step);
const outcomes = ["done", "waiting", "refused"] as const;

/** Recent sign-ons step by step, without names. */
export async function listSignOns(request: PageRequest): Promise<PageView> {
  const { api, path, query } = request;
  const { requestId, isFit } = readRequestId(request);
  const outcome = outcomes.find((one) => one === query("outcome"));
  const asked = {
    limit: 50,
    ...(requestId !== "" && { "request-id": requestId }),
    ...(outcome !== undefined && { outcome }),
    ...request.cursor,
  };
  const { items, more } = isFit
    ? await unwrapPage(api.GET("/admin/v1/apps/{clientId}/sign-on-attempts", { params: { path, query: asked } }))
    : { items: [], more: () => null };
  const filters = { ...(requestId !== "" && { request: requestId }), ...(outcome !== undefined && { outcome }) };
  const model = {
    attempts: items.map((attempt) => presentAttempt(request, attempt)),
    more: more(`${addressOf(request)}/sign-ons`, filters),
    requestId,
    outcome: outcome ?? "",
    outcomes,
    docs: signOnDocs,
  };
  return showAppPage(request, { page: "sign-ons", view: "sign-ons", model });
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
  const mend = problem === null ? null : (adviseSent({ problem }, locale) ?? advice ?? problem);
  return { name, value, hidden, mend };
}

function outcomeOf(steps: Attempt["steps"]): (typeof outcomes)[number] {
  if (steps.at(-1)!.outcome === "refused") return "refused";
  return steps.some(({ step, outcome }) => step === "token" && outcome === "done") ? "done" : "waiting";
}
