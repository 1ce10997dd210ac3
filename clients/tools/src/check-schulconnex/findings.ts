import { expectations, type ExpectationId } from "./expectations.ts";
import { describe, type Sent } from "./request.ts";

/** What was sent, what came back, and what was expected in this case; never with names, tokens or whole ids. */
export type Difference = { sent: string; came: string; expected: string | null };
export type Outcome = "passed" | "differs" | "not offered" | "not checked";
export type Verdict = { id: ExpectationId; outcome: Outcome; reason: string | null; differences: Difference[] };

/** The request cannot be sent, because there is no token or the provider stopped answering. */
export class NotAsked extends Error {}

/** The answer cannot be used, which is noted already. */
export class Unusable extends Error {}

export type Findings = ReturnType<typeof makeFindings>;

const mostDifferences = 3;

export function makeFindings() {
  const found = new Map<ExpectationId, Difference[]>();
  const notes = new Map<ExpectationId, Pick<Verdict, "outcome" | "reason">>();
  const missing = { outcome: "not checked", reason: "An answer that it needs is missing." } as const;
  return {
    /** `came` is null if all is as expected. Returns whether it is. */
    judge(id: ExpectationId, sent: Sent | string, came: string | null, expected: string | null = null): boolean {
      const differences = found.get(id) ?? [];
      found.set(id, differences);
      if (came === null) return true;
      if (differences.length < mostDifferences) differences.push({ sent: describe(sent), came, expected });
      return false;
    },
    note(outcome: "not offered" | "not checked", reason: string, ...ids: readonly ExpectationId[]): void {
      for (const id of ids) notes.set(id, { outcome, reason });
    },
    /** Does a piece of work, which ends at a request that cannot be sent or an answer that cannot be used. */
    async attempt<T>(work: () => Promise<T>): Promise<T | null> {
      return work().catch((error: unknown) => {
        if (error instanceof NotAsked || error instanceof Unusable) return null;
        throw error;
      });
    },
    verdicts: (): Verdict[] =>
      expectations.map(({ id }) => {
        const differences = found.get(id) ?? [];
        if (!found.has(id)) return { id, differences, ...(notes.get(id) ?? missing) };
        return { id, outcome: differences.length > 0 ? "differs" : "passed", reason: null, differences };
      }),
  };
}
