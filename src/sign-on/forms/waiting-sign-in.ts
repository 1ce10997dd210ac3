import { randomBytes } from "node:crypto";
import { longestPassword, longestTurnSeconds, makeKeyMaker } from "../../accounts/index.ts";
import { makeSealed } from "../../platform/crypto/seal.ts";
import { takeToken } from "../../platform/database/token-bucket.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fieldOf, type PageRequest } from "./page-request.ts";

/** The fields of a login form; with `turnAt` if the person was told to come again then. */
export type TypedSignIn = { username: string; password: string; isShared: boolean; turnAt?: Date };

type Waiting = { username: string; password: string; isShared: boolean; turnAt: string; browser: string; id: string };

const longestUsername = 256;

/** A browser may be asleep for a while when its turn comes. */
const sleepSeconds = 120;
const waitingSeconds = longestTurnSeconds + sleepSeconds;
const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<Waiting>(secrets.waitingSignIn, "waiting sign-in", waitingSeconds);

/** Makes the field of the waiting page: only the service can read it, once, from the same browser. */
export function sealWaiting(
  deps: InteractionDeps,
  { username, password, isShared }: TypedSignIn,
  { turnAt, browser }: { turnAt: Date; browser: string },
): string {
  // One character too many is kept, so that the check still refuses the length.
  const typed = { username: username.slice(0, longestUsername + 1), password: password.slice(0, longestPassword + 1) };
  const id = randomBytes(16).toString("base64url");
  return sealed(deps).write({ ...typed, isShared, turnAt: turnAt.toISOString(), browser, id }, deps.clock());
}

/** Reads the login form or the field of the waiting page; null if that is too old, used or another browser's. */
export async function takeTyped(request: PageRequest, browser: string): Promise<TypedSignIn | null> {
  const { deps } = request;
  const text = fieldOf(request, "waiting");
  if (text === "") {
    const [username, password] = [fieldOf(request, "username").trim(), fieldOf(request, "password")];
    return { username, password, isShared: fieldOf(request, "shared") !== "" };
  }
  const waiting = sealed(deps).read(text, deps.clock());
  if (waiting === null || browser === "" || waiting.browser !== browser) return null;
  const { username, password, isShared, turnAt, id } = waiting;
  // Single use: the bucket holds one token and refills after the field has expired.
  const key = makeKeyMaker(deps.secrets.waitingSignIn)("waiting sign-in", id);
  const used = await takeToken(deps.db.pool, { key, capacity: 1, refillSeconds: 2 * waitingSeconds }, deps.clock());
  return used === null ? { username, password, isShared, turnAt: new Date(turnAt) } : null;
}
