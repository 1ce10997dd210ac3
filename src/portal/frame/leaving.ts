import { callerOf } from "../../platform/http/index.ts";
import type { AskedBy } from "../../platform/threads/index.ts";
import type { PageRequest } from "./page-request.ts";

/** For whom work of a page is done in a thread. */
export const askedBy = ({ visitor, res }: PageRequest): AskedBy => ({ by: visitor.personId, caller: callerOf(res) });

/** Aborts when the browser leaves, for calls of the admin API whose answer is for nobody else. */
export function leavingOf({ res }: PageRequest): AbortSignal {
  const leaving = new AbortController();
  res.once("close", () => leaving.abort());
  return leaving.signal;
}
