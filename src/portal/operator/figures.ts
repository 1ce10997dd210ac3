import { figureRanges, readPlots, take, type Shown, type Visit } from "../frame/index.ts";

const metrics = ["signIns", "tokens", "apiCalls", "refusals", "deliveries"] as const;

/** Whether the service is well, what waits, and what was counted over time. */
export async function showFigures(visit: Visit): Promise<Shown> {
  const { api, query, t } = visit;
  const range = figureRanges.find((one) => one === query("range")) ?? "day";
  const [health, held, plots] = await Promise.all([
    take(api.GET("/admin/v1/health")),
    take(api.GET("/admin/v1/imports", { params: { query: { state: "HELD", limit: 20 } } })),
    readPlots(visit, { metrics, range }),
  ]);
  const model = { health, held, plots, range, ranges: figureRanges };
  return { title: t("figures.title"), view: "figures", model, page: "operator_figures" };
}
