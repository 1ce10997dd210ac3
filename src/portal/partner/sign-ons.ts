import type { AdminSchemas } from "../../admin/index.ts";
import { adviseSent, adviseSignOn, signOnDocs } from "../../platform/advice/sign-on/index.ts";
import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import german from "./locales/de.json" with { type: "json" };
import { addressOf, showAppPage } from "./app-page.ts";

type Attempt = AdminSchemas["SignOnAttempt"];
type Sent = AdminSchemas["SignOnParameter"];

const knownSteps: readonly string[] = Object.keys(german.signOns.step);

/** Recent sign-ons step by step, without names. */
export async function listSignOns(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const asked = { limit: 20, ...request.cursor };
  const { items, more } = await unwrapPage(
    api.GET("/admin/v1/apps/{clientId}/sign-on-attempts", { params: { path, query: asked } }),
  );
  const attempts = items.map(({ steps }) => {
    const advised = adviseSignOn(steps);
    return {
      outcome: outcomeOf(steps),
      at: steps[0]!.at,
      steps: steps.map((step, index) => ({
        ...step,
        name: knownSteps.includes(step.step) ? t(`signOns.step.${step.step}`) : step.step,
        advice: advised?.index === index ? advised.advice : null,
        sent: (step.sent ?? []).map((one) => presentSent(request, one)),
        hasProblem: (step.sent ?? []).some(({ problem }) => problem !== null),
      })),
    };
  });
  const model = { attempts, more: more(`${addressOf(request)}/sign-ons`), docs: signOnDocs };
  return showAppPage(request, { page: "sign-ons", view: "sign-ons", model });
}

function presentSent({ t, locale }: PageRequest, { name, value, length, problem, advice }: Sent) {
  const hidden = length === null ? t("signOns.notSent") : t("signOns.hidden", { length });
  const mend = problem === null ? null : (adviseSent({ problem }, locale) ?? advice ?? problem);
  return { name, value, hidden, mend };
}

function outcomeOf(steps: Attempt["steps"]): "done" | "waiting" | "refused" {
  if (steps.at(-1)!.outcome === "refused") return "refused";
  return steps.some(({ step, outcome }) => step === "token" && outcome === "done") ? "done" : "waiting";
}
