/** What a piece of work may cost in the large world, measured by what it costs in the small one. */
const most = 1.2;

export type Sides<T> = { small: T; large: T };

/** Units: answers the milliseconds that count; where it answers nothing, all of its time does. */
export type Work = (() => Promise<number>) | (() => Promise<void>);

const seconds = Number(process.env["BENCH_SECONDS"] ?? 1);
export const rounds = Number(process.env["BENCH_ROUNDS"] ?? 7);

export const costHead = [
  "| What | Small | Large | Cost large / small: min / median / max | At most 1.2 |",
  "|---|---|---|---|---|",
].join("\n");

/**
 * Does the same work in both worlds in turns, piece by piece, so that whatever else the machine does slows down both;
 * prints the row. A round has as many pieces as there is time for, at most `pieces`. Work that fails makes a row that
 * says so, and the run fail at its end.
 */
export async function compareCost(title: string, sides: Sides<Work>, pieces = 200): Promise<void> {
  try {
    console.log(`| ${[title, ...(await compare(sides, pieces))].join(" | ")} |`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`| ${[title, "", "", `failed: ${(error as Error).message}`, "**no**"].join(" | ")} |`);
  }
}

async function compare({ small, large }: Sides<Work>, pieces: number): Promise<string[]> {
  await takeTurns({ small, large }, 2);
  const measured: Sides<number>[] = [];
  while (measured.length < rounds) measured.push(await takeTurns({ small, large }, pieces));
  const ratios = measured.map((round) => round.large / round.small).sort((a, b) => a - b);
  const ratio = medianOf(ratios);
  const ms = (side: keyof Sides<number>) => `${medianOf(measured.map((round) => round[side])).toFixed(1)} ms`;
  const spread = `${ratios[0]!.toFixed(2)} / **${ratio.toFixed(2)}** / ${ratios.at(-1)!.toFixed(2)}`;
  return [ms("small"), ms("large"), spread, ratio <= most ? "yes" : "**no**"];
}

/** Units: the medians in milliseconds. */
async function takeTurns(sides: Sides<Work>, pieces: number): Promise<Sides<number>> {
  const taken: Sides<number[]> = { small: [], large: [] };
  const end = performance.now() + seconds * 1000;
  for (let n = 0; n < pieces && (n === 0 || performance.now() < end); n++)
    for (const side of n % 2 === 0 ? (["small", "large"] as const) : (["large", "small"] as const)) {
      const began = performance.now();
      const counted = await sides[side]();
      taken[side].push(typeof counted === "number" ? counted : performance.now() - began);
    }
  return { small: medianOf(taken.small), large: medianOf(taken.large) };
}

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
