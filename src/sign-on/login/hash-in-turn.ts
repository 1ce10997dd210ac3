import { makeBounded } from "./bounded.ts";
import { hashPassword } from "./password.ts";

/** Half of what Node runs beside its event loop, for all requests together, so that sign-ins go on. */
const inTurn = makeBounded({ atOnce: 2, waiting: Infinity });

/** Hashes as `hashPassword`, for passwords that are made for many people at once. */
export const hashInTurn = (password: string): Promise<string> => inTurn(() => hashPassword(password));
