import { randomBytes } from "node:crypto";
import type { Request } from "express";
import { takeToken } from "../../platform/database/token-bucket.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fieldOf } from "./form.ts";
import { longestPassword, longestTurnSeconds, makeKeyMaker } from "../../accounts/index.ts";
import { makeSealed } from "../../platform/crypto/sealed.ts";

/** What a person typed to sign in. Shape: `turnAt` where they were turned away before and told to come again. */
export type TypedSignIn = { username: string; password: string; isShared: boolean; turnAt?: Date };

type Waiting = { username: string; password: string; isShared: boolean; turnAt: string; browser: string; id: string };
type Deps = Pick<InteractionDeps, "db" | "clock" | "secrets">;

const longestUsername = 256;

/** A browser may be asleep for a while when its turn comes. */
const sleepSeconds = 120;
const waitingSeconds = longestTurnSeconds + sleepSeconds;
const sealed = ({ secrets }: Pick<Deps, "secrets">) =>
  makeSealed<Waiting>(secrets.waitingSignIn, "waiting sign-in", waitingSeconds);

/**
 * What the page of those who wait carries, so that they need not type again: only the service can read it, and takes it
 * once, from the same browser only. The service itself keeps no password.
 */
export const sealWaiting = (
  deps: Pick<Deps, "clock" | "secrets">,
  { username, password, isShared }: TypedSignIn,
  { turnAt, browser }: { turnAt: Date; browser: string },
): string => {
  // What is longer stays too long.
  const typed = { username: username.slice(0, longestUsername + 1), password: password.slice(0, longestPassword + 1) };
  const id = randomBytes(16).toString("base64url");
  return sealed(deps).write({ ...typed, isShared, turnAt: turnAt.toISOString(), browser, id }, deps.clock());
};

/**
 * What the form holds, typed or from the page of those who wait.
 *
 * Shape: null where the latter is too old, used already or of another browser.
 */
export async function takeTyped(deps: Deps, req: Request, browser: string): Promise<TypedSignIn | null> {
  const text = fieldOf(req, "waiting");
  if (text === "") {
    const [username, password] = [fieldOf(req, "username").trim(), fieldOf(req, "password")];
    return { username, password, isShared: fieldOf(req, "shared") !== "" };
  }
  const waiting = sealed(deps).read(text, deps.clock());
  if (waiting === null || browser === "" || waiting.browser !== browser) return null;
  const { username, password, isShared, turnAt, id } = waiting;
  // One use: the bucket holds one and is full again after what is sealed has expired.
  const key = makeKeyMaker(deps.secrets.waitingSignIn)("waiting sign-in", id);
  const used = await takeToken(deps.db.pool, { key, capacity: 1, refillSeconds: 2 * waitingSeconds }, deps.clock());
  if (used !== null) return null;
  return { username, password, isShared, turnAt: new Date(turnAt) };
}
