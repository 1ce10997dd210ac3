/** Where progress is shown: on a terminal a bar that is drawn over and over, elsewhere a line now and then. */
export type ProgressScreen = { isTTY?: boolean | undefined; columns?: number | undefined; write(text: string): void };

export type ProgressStep = { label: string; done: number; total: number; unit: "bytes" | "schools" };

export type ProgressBar = { show(step: ProgressStep): void; end(): void };

const redrawMs = 100;
const lineMs = 10_000;

/**
 * Makes a progress bar with rate and time left, counted from the beginning of each step.
 *
 * Units: `now` in milliseconds.
 */
export function makeProgressBar(screen: ProgressScreen, now: () => number = () => performance.now()): ProgressBar {
  let label = "";
  let startedAt = 0;
  let shownAt = 0;
  let drawn = false;
  return {
    show(step) {
      const isNew = step.label !== label;
      if (isNew) [label, startedAt, shownAt] = [step.label, now(), -Infinity];
      if (!isNew && now() - shownAt < (screen.isTTY ? redrawMs : lineMs)) return;
      shownAt = now();
      const text = describeProgress(step, (now() - startedAt) / 1000);
      screen.write(screen.isTTY ? `\r\x1b[K${text.slice(0, (screen.columns ?? 80) - 1)}` : `${text}\n`);
      drawn = true;
    },
    end() {
      if (drawn && screen.isTTY) screen.write("\r\x1b[K");
      drawn = false;
    },
  };
}

const width = 24;

export function describeProgress({ label, done, total, unit }: ProgressStep, seconds: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const bar = "█".repeat(Math.round(share * width)).padEnd(width, "░");
  const rate = seconds > 0.5 && done > 0 ? done / seconds : undefined;
  const left = rate === undefined || done >= total ? undefined : (total - done) / rate;
  const parts = [`${label} ${bar} ${Math.floor(share * 100)} %`];
  if (rate !== undefined)
    parts.push(unit === "bytes" ? `${(rate / 1e6).toFixed(1)} MB/s` : `${rate.toFixed(1)} schools/s`);
  if (left !== undefined) parts.push(`${describeTime(left)} left`);
  return parts.join(" · ");
}

function describeTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
