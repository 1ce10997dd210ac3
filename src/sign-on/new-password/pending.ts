import type { Request, Response } from "express";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../interaction/deps.ts";
import { fieldOf } from "../interaction/step.ts";
import { makeSealed } from "../second-factor/sealed.ts";
import type { PasswordFault } from "./change.ts";
import { changePassword } from "./change.ts";

/** A person whose password was right and is to be replaced, before they have a session. */
export type PendingPassword = { personId: PersonId; generation: number; browser: string };

const pendingSeconds = 1_200;

type Deps = Pick<InteractionDeps, "db" | "clock" | "secrets">;

const sealed = ({ secrets }: Deps) => makeSealed<PendingPassword>(secrets.newPassword, "new password", pendingSeconds);

/** What the form carries, so that nobody else can choose the password. */
export const sealPending = (deps: Deps, { personId, generation, browser }: PendingPassword): string =>
  sealed(deps).write({ personId, generation, browser }, deps.clock());

/** What became of the form. Shape: `pending` is null for one that is too old or of another browser. */
export type Taken =
  | { kind: "done"; personId: PersonId; generation: number }
  | { kind: "fault"; fault: PasswordFault; pending: string }
  | { kind: "expired" };

/** Takes the password that a person chose in place of the one that they signed in with. */
export async function takeNewPassword(deps: Deps, req: Request, res: Response, browser: string): Promise<Taken> {
  const text = fieldOf(req, "pending");
  const pending = text === "" ? null : sealed(deps).read(text, deps.clock());
  if (pending === null || browser === "" || pending.browser !== browser) return { kind: "expired" };
  const { personId, generation } = pending;
  const chosen = { personId, generation, password: fieldOf(req, "password"), repeated: fieldOf(req, "repeated") };
  const requestId = res.locals["requestId"] as string | undefined;
  const result = await changePassword(deps.db, chosen, { at: deps.clock(), requestId });
  if (result.kind === "outdated") return { kind: "expired" };
  return result.kind === "fault" ? { ...result, pending: text } : { ...result, personId };
}
