type Series = { name: string; values: readonly number[] };

export type Drawn = {
  width: number;
  height: number;
  /** Horizontal lines with their values. */
  rules: { y: number; value: number }[];
  left: number;
  right: number;
  lines: { points: string; marks: string; total: number; name: string; look: number; shape: string }[];
};

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

/** Units: of the picture, 360 by 180. */
export function drawLines(series: readonly Series[]): Drawn {
  const most = roundUp(Math.max(1, ...series.flatMap(({ values }) => values)));
  const y = (value: number) => round(bottom - ((bottom - top) * value) / most);
  const lines = series.slice(0, mostLines).map(({ name, values }, look) => {
    const x = (index: number) => round(left + ((right - left) * index) / Math.max(1, values.length - 1));
    const places = values.map((value, index) => [x(index), y(value)] as const);
    const marked = places.filter((_, index) => values[index] !== 0);
    return {
      name,
      look,
      shape: shapes[look]!,
      total: values.reduce((sum, value) => sum + value, 0),
      points: places.map(([across, down]) => `${across},${down}`).join(" "),
      marks: marked.map(([across, down]) => `M${across} ${down}${shapes[look]}`).join(""),
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
