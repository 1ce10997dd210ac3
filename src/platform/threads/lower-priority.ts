import { setPriority } from "node:os";

/** Lets sign-ons go first. A service manager may forbid it, as the sample for systemd does; the work goes on then. */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(niceness);
  } catch {
    // Only the order of work differs.
  }
}
