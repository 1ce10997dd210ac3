/**
 * Counts `server_error` of the token endpoint, which answers a failure of the service with status 400.
 *
 * Shape: it is allowed for requests that began while a fault had taken the database away.
 */
export type ServerErrors = {
  begin(fault: string, takesDatabase: boolean): void;
  /** The database answers again. */
  databaseIsBack(): void;
  /** Units: `askedAt` as of `performance.now()`. */
  note(askedAt: number, description: string): void;
  count(fault: string): number;
  /** Those that are not allowed: the fault, and how long after its beginning they were asked for. */
  wrongs(): string[];
};

// Connections that broke are found out a moment after the database is back.
const graceMs = 1000;

export function watchServerErrors(now: () => number = () => performance.now()): ServerErrors {
  const counts = new Map<string, number>();
  const wrongs: string[] = [];
  let current = { fault: "none", begunAt: now() };
  // Half-open times in which the database was away, the last one perhaps without an end.
  const away: { from: number; until: number }[] = [];
  return {
    begin(fault, takesDatabase) {
      current = { fault, begunAt: now() };
      if (takesDatabase) away.push({ from: now(), until: Infinity });
    },
    databaseIsBack() {
      const last = away.at(-1);
      if (last?.until === Infinity) last.until = now() + graceMs;
    },
    note(askedAt, description) {
      const { fault, begunAt } = current;
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      // What was asked before and is answered now was still being worked on when the database went away.
      const answeredAt = now();
      if (away.some(({ from, until }) => askedAt < until && answeredAt >= from)) return;
      const after = Math.round(askedAt - begunAt);
      wrongs.push(
        `server_error of /oauth2/token with the database there: ${fault}, asked ${after} ms after it: ${description}`,
      );
    },
    count: (fault) => counts.get(fault) ?? 0,
    wrongs: () => wrongs,
  };
}
