/** Where progress is shown: on a terminal a bar that is drawn over and over, elsewhere a line now and then. */
export type ProgressScreen = { isTTY?: boolean | undefined; columns?: number | undefined; write(text: string): void };

export type ProgressStep = { label: string; done: number; total: number; unit: "bytes" | "schools" | "percent" };

type ProgressBar = {
  show(step: ProgressStep): void;
  /** Ends the last step: as completed, or as far as it came. */
  end(isCompleted: boolean): void;
};

const redrawMs = 100;
const lineMs = 10_000;

/** Makes a progress bar with rate and time left, both of the present step. Units: `now` in milliseconds. */
export function makeProgressBar(screen: ProgressScreen, now: () => number = () => performance.now()): ProgressBar {
  let current: { step: ProgressStep; at: number; startedAt: number; shownAt: number; isShown: boolean } | undefined;

  function write(): void {
    if (current === undefined || current.isShown) return;
    const text = describeProgress(current.step, (current.at - current.startedAt) / 1000);
    screen.write(screen.isTTY ? `\r\x1b[K${text.slice(0, (screen.columns ?? 80) - 1)}` : `${text}\n`);
    [current.isShown, current.shownAt] = [true, current.at];
  }

  /** A step reports its beginning and its parts; that the next one begins is its end. */
  function complete(): void {
    if (current === undefined || screen.isTTY) return;
    const { step } = current;
    if (step.done < step.total)
      Object.assign(current, { step: { ...step, done: step.total }, at: now(), isShown: false });
    write();
  }

  return {
    show(step) {
      const isNew = step.label !== current?.step.label;
      if (isNew) complete();
      const from = isNew || current === undefined ? { startedAt: now(), shownAt: -Infinity } : current;
      current = { ...from, step, at: now(), isShown: false };
      if (current.at - current.shownAt >= (screen.isTTY ? redrawMs : lineMs)) write();
    },
    end(isCompleted) {
      if (isCompleted) complete();
      else if (!screen.isTTY) write();
      if (screen.isTTY && current !== undefined) screen.write("\r\x1b[K");
      current = undefined;
    },
  };
}

const width = 24;

function describeProgress({ label, done, total, unit }: ProgressStep, seconds: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const bar = "█".repeat(Math.round(share * width)).padEnd(width, "░");
  const rate = seconds > 0.5 && done > 0 ? done / seconds : undefined;
  const left = rate === undefined || done >= total ? undefined : (total - done) / rate;
  const parts = [`${label} ${bar} ${Math.floor(share * 100)} %`];
  if (rate !== undefined && unit !== "percent")
    parts.push(unit === "bytes" ? `${(rate / 1e6).toFixed(1)} MB/s` : `${rate.toFixed(1)} schools/s`);
  if (left !== undefined) parts.push(`${describeTime(left)} left`);
  return parts.join(" · ");
}

function describeTime(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
