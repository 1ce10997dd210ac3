import type { ServerResponse } from "node:http";

export type Caller = {
  hasLeft(): boolean;
  onLeave(listener: () => void): () => void;
};

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

export function leavingSignal(caller: Caller): AbortSignal {
  const leaving = new AbortController();
  const leave = () => leaving.abort(new CallerLeft());
  caller.onLeave(leave);
  if (caller.hasLeft()) leave();
  return leaving.signal;
}

export function joinCallers(callers: readonly Caller[]): Caller {
  const hasLeft = () => callers.every((caller) => caller.hasLeft());
  return {
    hasLeft,
    onLeave(listener) {
      const offs = callers.map((caller) => caller.onLeave(() => void (hasLeft() && listener())));
      return () => offs.forEach((off) => off());
    },
  };
}
