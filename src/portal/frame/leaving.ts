import { callerOf } from "../../platform/http/index.ts";
import type { AskedBy } from "../../platform/threads/index.ts";
import type { PageRequest } from "./page-request.ts";

export const askedBy = ({ visitor, res }: PageRequest): AskedBy => ({ by: visitor.personId, caller: callerOf(res) });

/** Aborts when the browser disconnects. */
export function leavingOf({ res }: PageRequest): AbortSignal {
  const leaving = new AbortController();
  res.once("close", () => leaving.abort());
  return leaving.signal;
}
