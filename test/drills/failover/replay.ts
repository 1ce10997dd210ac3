import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "./checks.ts";
import { exchangeOf, isFinal, requestTokens, type Ledger } from "./load.ts";
import type { World } from "./world.ts";

const recentMs = 10_000;
const pauseMs = 250;

type Given = { urls: readonly string[]; world: World; ledger: Ledger; lostAt: number; signal: AbortSignal };

/**
 * Uses again each code whose exchange was acknowledged shortly before the primary was lost, until the service answers
 * for certain. Codes live longer here than a failover takes, so that what refuses them is their first use.
 */
export async function useCodesAgain({ urls, world, ledger, lostAt, signal }: Given): Promise<Finding> {
  const recent = ledger.usedCodes.filter(({ at }) => at > lostAt - recentMs && at <= lostAt);
  const useAgain = async (used: (typeof recent)[number]): Promise<"refused" | "used" | "unknown"> => {
    for (let n = 0; !signal.aborted; n++)
      try {
        await requestTokens(urls[n % urls.length]!, world.app, exchangeOf(world.app, used));
        return "used";
      } catch (error) {
        if (isFinal(error)) return "refused";
        await sleep(pauseMs);
      }
    return "unknown";
  };
  const outcomes = await Promise.all(recent.map(useAgain));
  const faults = outcomes.flatMap((outcome, index) =>
    outcome === "refused" ? [] : [`${outcome}: ${recent[index]!.code.slice(0, 6)}`],
  );
  return { claim: "no code that was used before the loss is used again", faults, of: recent.length };
}
