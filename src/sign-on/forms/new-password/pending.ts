import type { Request, Response } from "express";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf } from "../form.ts";
import { changePassword, hasSecondFactors, type PasswordFault, type SecondMethod } from "../../../accounts/index.ts";
import { makeSealed } from "../../../platform/crypto/sealed.ts";

/**
 * A person whose password was right and is to be replaced, before they have a session.
 *
 * Shape: `method` is the second factor that they have proved; who has one chooses no password without it.
 */
export type PendingPassword = { personId: PersonId; generation: number; browser: string; method?: SecondMethod };

const pendingSeconds = 1_200;

type Deps = Pick<InteractionDeps, "db" | "clock" | "secrets">;

const sealed = ({ secrets }: Deps) => makeSealed<PendingPassword>(secrets.newPassword, "new password", pendingSeconds);

/** What the form carries, so that nobody else can choose the password. */
export const sealPending = (deps: Deps, { personId, generation, browser, method }: PendingPassword): string =>
  sealed(deps).write({ personId, generation, browser, ...(method && { method }) }, deps.clock());

/** What the form carries; null where it is too old or of another browser. */
export function readPending(deps: Deps, req: Request, browser: string): PendingPassword | null {
  const text = fieldOf(req, "pending");
  const pending = text === "" ? null : sealed(deps).read(text, deps.clock());
  return pending === null || browser === "" || pending.browser !== browser ? null : pending;
}

/** What became of the form; "expired" for one that is too old, of another browser, or lacks the second factor. */
export type Taken =
  | { kind: "done"; personId: PersonId; generation: number; method?: SecondMethod }
  | { kind: "fault"; fault: PasswordFault; pending: string }
  | { kind: "expired" };

/** Takes the password that a person chose in place of the one that they signed in with. */
export async function takeNewPassword(deps: Deps, req: Request, res: Response, browser: string): Promise<Taken> {
  const pending = readPending(deps, req, browser);
  if (pending === null) return { kind: "expired" };
  const { personId, generation, method } = pending;
  if (method === undefined && (await hasSecondFactors(deps.db, personId))) return { kind: "expired" };
  const chosen = { personId, generation, password: fieldOf(req, "password"), repeated: fieldOf(req, "repeated") };
  const requestId = res.locals["requestId"] as string | undefined;
  const result = await changePassword(deps.db, chosen, { at: deps.clock(), requestId });
  if (result.kind === "outdated") return { kind: "expired" };
  if (result.kind === "fault") return { ...result, pending: fieldOf(req, "pending") };
  return { ...result, personId, ...(method && { method }) };
}
