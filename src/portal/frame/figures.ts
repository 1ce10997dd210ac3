import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";

type Metric = AdminSchemas["FigureMetric"];

export const figureRanges = ["day", "month", "year"] as const;
type FigureRange = (typeof figureRanges)[number];

type Part = { key: string; label: string };
type Span = { step: "hour" | "day"; from: Date; until: Date; parts: Part[]; keyLength: number };

const hourInMs = 3_600_000;
const dayInMs = 24 * hourInMs;

/** The hours or days up to now, in UTC as they are counted. */
function spanOf({ now, locale, times }: PageRequest, range: FigureRange): Span {
  const at = now.getTime();
  const write = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
    return (time: number) => format.format(new Date(time));
  };
  const list = (count: number, start: (index: number) => number, label: (time: number) => string, keyLength: number) =>
    Array.from({ length: count }, (_, index) => {
      const time = start(index);
      return { key: new Date(time).toISOString().slice(0, keyLength), label: label(time) };
    });
  if (range === "year") {
    const start = (index: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11 + index, 1);
    const parts = list(12, start, write({ month: "short", year: "numeric" }), 7);
    return { step: "day", from: new Date(start(0)), until: new Date(start(12)), parts, keyLength: 7 };
  }
  const [length, count] = range === "day" ? [hourInMs, 24] : [dayInMs, 30];
  const until = (Math.floor(at / length) + 1) * length;
  const label =
    range === "day"
      ? (time: number) => times.time(new Date(time).toISOString())
      : write({ day: "numeric", month: "short" });
  const keyLength = range === "day" ? 13 : 10;
  return {
    step: range === "day" ? "hour" : "day",
    from: new Date(until - count * length),
    until: new Date(until),
    parts: list(count, (index) => until - (count - index) * length, label, keyLength),
    keyLength,
  };
}

/** Reads the figures of one app, or of all that the reader manages. */
export async function readPlots(
  request: PageRequest,
  { metrics, range, app }: { metrics: readonly Metric[]; range: FigureRange; app?: string },
) {
  const span = spanOf(request, range);
  const period = { step: span.step, from: span.from.toISOString(), until: span.until.toISOString() };
  const read = (metric: Metric) => request.call("getFigures", { query: { ...period, metric, app } });
  return (await Promise.all(metrics.map(read))).map((one) => plotOf(request, one, span));
}

function plotOf({ t }: PageRequest, { metric, points }: AdminSchemas["Figures"], { parts, keyLength }: Span) {
  const outcomes = [...new Set(points.map(({ outcome }) => outcome))].sort();
  const all = outcomes.map((outcome) => {
    const counts = new Map<string, number>();
    for (const { at, outcome: other, count } of points) {
      const key = at.slice(0, keyLength);
      if (other === outcome) counts.set(key, (counts.get(key) ?? 0) + count);
    }
    return { name: outcomeName(outcome, t), values: parts.map(({ key }) => counts.get(key) ?? 0) };
  });
  const series = joinRest(all, t("frame.figures.others"));
  const drawn = drawLines(series);
  return {
    metric,
    heading: t(`frame.figures.metric.${metric}`),
    drawn,
    series,
    labels: parts.map(({ label }) => label),
    total: drawn.lines.reduce((sum, { total }) => sum + total, 0),
  };
}

const named = ["done", "not_modified", "refused", "failed"];

/** Shown as codes, which partners and operators look up. */
const outcomeName = (outcome: string, t: PageRequest["t"]): string =>
  named.includes(outcome) ? t(`frame.figures.outcome.${outcome}`) : outcome;

type Series = { name: string; values: readonly number[] };

const [width, height, left, right, top, bottom] = [360, 180, 44, 350, 10, 156];
/** More lines could not be told apart. */
const mostLines = 5;

/** The mark of each line, in addition to its colour and dashes. */
const shapes = [
  "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
  "m-3-3h6v6h-6z",
  "m0-4l4 7h-8z",
  "m0-4l4 4-4 4-4-4z",
  "m-3-3l6 6m0-6l-6 6",
];

/** Units: of the picture, 360 by 180. `rules` are horizontal lines with their values. */
export function drawLines(series: readonly Series[]) {
  const most = roundUp(Math.max(1, ...series.flatMap(({ values }) => values)));
  const y = (value: number) => round(bottom - ((bottom - top) * value) / most);
  const lines = series.slice(0, mostLines).map(({ name, values }, style) => {
    const x = (index: number) => round(left + ((right - left) * index) / Math.max(1, values.length - 1));
    const places = values.map((value, index) => [x(index), y(value)] as const);
    const marked = places.filter((_, index) => values[index] !== 0);
    return {
      name,
      look: style,
      shape: shapes[style]!,
      total: values.reduce((sum, value) => sum + value, 0),
      points: places.map(([across, down]) => `${across},${down}`).join(" "),
      marks: marked.map(([across, down]) => `M${across} ${down}${shapes[style]}`).join(""),
    };
  });
  return { width, height, left, right, lines, rules: [0, most / 2, most].map((value) => ({ value, y: y(value) })) };
}

const round = (at: number): number => Math.round(at * 10) / 10;

/** The next of 2, 4, 10, 20, 40, 100, …, whose half is an integer. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [2, 4, 10, 20].map((step) => step * power).find((step) => step >= value)!;
}

/** Keeps the largest series and sums up the others. */
export function joinRest(series: readonly Series[], rest: string): Series[] {
  const sum = ({ values }: Series) => values.reduce((all, value) => all + value, 0);
  if (series.length <= mostLines) return [...series];
  const sorted = [...series].sort((a, b) => sum(b) - sum(a));
  const others = sorted.slice(mostLines - 1);
  const values = others[0]!.values.map((_, index) => others.reduce((all, one) => all + one.values[index]!, 0));
  return [...sorted.slice(0, mostLines - 1), { name: rest, values }];
}
