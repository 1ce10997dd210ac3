import { makeBounded } from "./bounded.ts";
import { hashPassword } from "./password.ts";

/** Hashes at most two passwords at a time: half of Node's pool, so that sign-ins go on. */
export function makeHashInTurn(hash: (password: string) => Promise<string>): (password: string) => Promise<string> {
  const inTurn = makeBounded({ atOnce: 2, waiting: Infinity });
  return (password) => inTurn(() => hash(password));
}

/** As `hashPassword`, for passwords of many people; all requests share the two places. */
export const hashInTurn = makeHashInTurn(hashPassword);
