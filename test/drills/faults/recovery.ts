export const callKinds = ["change", "read", "sign-on", "refresh"] as const;
export type CallKind = (typeof callKinds)[number];

/** How long a fault was noticed by the calls of each kind. */
export type Recovery = {
  begin(): void;
  /** Notes what came of a call. Units: `askedAt` as of `performance.now()`. */
  note(kind: CallKind, askedAt: number, hasSucceeded: boolean): void;
  /** Whether a call of each kind, asked at or after that time and after the last failure of its kind, has succeeded. */
  isOver(since: number): boolean;
  /** From the beginning of the fault to the first success after the last failure; null where no call failed. */
  noticedMs(kind: CallKind): number | null;
};

type Seen = { failedAt: number | null; succeededAt: number | null; lastAsked: number };
const unseen = (): Seen => ({ failedAt: null, succeededAt: null, lastAsked: -Infinity });

export function watchRecovery(now: () => number = () => performance.now()): Recovery {
  let [began, seen] = [now(), new Map<CallKind, Seen>()];
  const of = (kind: CallKind): Seen => {
    const found = seen.get(kind) ?? unseen();
    seen.set(kind, found);
    return found;
  };
  return {
    begin() {
      began = now();
      seen = new Map();
    },
    note(kind, askedAt, hasSucceeded) {
      const call = of(kind);
      // What was asked before the fault says nothing of the time after it, unless the fault made it fail.
      if (!hasSucceeded) Object.assign(call, { failedAt: now(), succeededAt: null });
      else if (askedAt >= began) {
        call.lastAsked = askedAt;
        call.succeededAt ??= now();
      }
    },
    isOver: (since) =>
      callKinds.every((kind) => {
        const { succeededAt, lastAsked } = of(kind);
        return succeededAt !== null && lastAsked >= since;
      }),
    noticedMs(kind) {
      const { failedAt, succeededAt } = of(kind);
      return failedAt === null ? null : (succeededAt ?? now()) - began;
    },
  };
}
