import type { ServerResponse } from "node:http";

/** Who waits for an answer, and whether they still do. */
export type Caller = {
  hasLeft(): boolean;
  /** Calls the listener when the caller leaves; answers how to take that back. */
  onLeave(listener: () => void): () => void;
};

/** Ends a request that nobody waits for any more; there is nothing to answer and nothing to report. */
export class CallerLeft extends Error {
  constructor() {
    super("The caller has left.");
    this.name = "CallerLeft";
  }
}

export function callerOf(res: ServerResponse): Caller {
  return {
    hasLeft: () => res.destroyed,
    onLeave(listener) {
      res.once("close", listener);
      return () => res.off("close", listener);
    },
  };
}

/** Aborts with CallerLeft when the caller leaves. */
export function leavingSignal(caller: Caller): AbortSignal {
  const leaving = new AbortController();
  const leave = () => leaving.abort(new CallerLeft());
  caller.onLeave(leave);
  if (caller.hasLeft()) leave();
  return leaving.signal;
}

/** Several who wait for the same work: it is for nobody once all of them have left. */
export function allOf(callers: readonly Caller[]): Caller {
  const hasLeft = () => callers.every((caller) => caller.hasLeft());
  return {
    hasLeft,
    onLeave(listener) {
      const offs = callers.map((caller) => caller.onLeave(() => void (hasLeft() && listener())));
      return () => offs.forEach((off) => off());
    },
  };
}
