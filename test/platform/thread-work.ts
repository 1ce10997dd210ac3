// What the tests of threads let run in one. `beats` counts as long as the thread runs.
export type Asked = { does: "square" | "throw" | "exit" | "run on" | "fill memory"; n: number; beats?: Int32Array };

export default function work({ does, n, beats }: Asked): number {
  if (does === "throw") throw new RangeError("refused");
  if (does === "exit") process.exit(3);
  const kept: unknown[] = [];
  while (does === "fill memory") kept.push(new Array(100_000).fill(kept.length));
  while (does === "run on") Atomics.add(beats!, 0, 1);
  return n * n;
}
