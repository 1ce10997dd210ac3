import { makeBounded } from "./bounded.ts";
import { hashPassword } from "./password.ts";

/**
 * Makes a function that hashes at most two passwords at a time: half of what Node runs beside its event loop, so that
 * sign-ins go on.
 */
export function makeHashInTurn(hash: (password: string) => Promise<string>): (password: string) => Promise<string> {
  const inTurn = makeBounded({ atOnce: 2, waiting: Infinity });
  return (password) => inTurn(() => hash(password));
}

/** Hashes as `hashPassword`, for passwords that are made for many people at once; all requests together take turns. */
export const hashInTurn = makeHashInTurn(hashPassword);
