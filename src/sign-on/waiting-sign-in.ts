import type { Request } from "express";
import type { InteractionDeps } from "./interaction/deps.ts";
import { fieldOf } from "./interaction/step.ts";
import { longestPassword, longestTurnSeconds } from "./login/index.ts";
import { makeSealed } from "./second-factor/sealed.ts";

/** What a person typed to sign in. Shape: `turnAt` where they were turned away before and told to come again. */
export type TypedSignIn = { username: string; password: string; isShared: boolean; turnAt?: Date };

type Waiting = { username: string; password: string; isShared: boolean; turnAt: string; browser: string };
type Deps = Pick<InteractionDeps, "clock" | "secrets">;

const longestUsername = 256;

/** A browser may be asleep for a while when its turn comes. */
const sleepSeconds = 120;
const sealed = ({ secrets }: Deps) =>
  makeSealed<Waiting>(secrets.waitingSignIn, "waiting sign-in", longestTurnSeconds + sleepSeconds);

/**
 * What the page of those who wait carries, so that they need not type again: only the service can read it, and takes it
 * from the same browser only. The service itself keeps no password.
 */
export const sealWaiting = (
  deps: Deps,
  { username, password, isShared }: TypedSignIn,
  { turnAt, browser }: { turnAt: Date; browser: string },
): string => {
  // What is longer stays too long.
  const typed = { username: username.slice(0, longestUsername + 1), password: password.slice(0, longestPassword + 1) };
  return sealed(deps).write({ ...typed, isShared, turnAt: turnAt.toISOString(), browser }, deps.clock());
};

/** What the form holds, typed or from the page of those who wait; null where that is too old or of another browser. */
export function readTyped(deps: Deps, req: Request, browser: string): TypedSignIn | null {
  const text = fieldOf(req, "waiting");
  if (text === "") {
    const [username, password] = [fieldOf(req, "username").trim(), fieldOf(req, "password")];
    return { username, password, isShared: fieldOf(req, "shared") !== "" };
  }
  const waiting = sealed(deps).read(text, deps.clock());
  if (waiting === null || browser === "" || waiting.browser !== browser) return null;
  const { username, password, isShared, turnAt } = waiting;
  return { username, password, isShared, turnAt: new Date(turnAt) };
}
