import { figureRanges, readPlots, unwrap, type PageView, type PageRequest } from "../frame/index.ts";

const metrics = ["signIns", "tokens", "apiCalls", "refusals", "deliveries"] as const;

export async function showFigures(request: PageRequest): Promise<PageView> {
  const { api, query, t } = request;
  const range = figureRanges.find((one) => one === query("range")) ?? "day";
  const [health, held, plots] = await Promise.all([
    unwrap(api.GET("/admin/v1/health")),
    unwrap(api.GET("/admin/v1/imports", { params: { query: { state: "HELD", limit: 20 } } })),
    readPlots(request, { metrics, range }),
  ]);
  const model = { health, held, plots, range, ranges: figureRanges };
  return { title: t("frame.pages.operator_figures"), view: "figures", model, page: "operator_figures" };
}
