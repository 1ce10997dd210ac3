import { makeThreadPool } from "../platform/threads/index.ts";

/** For what takes long to make; of lower priority than sign-ons. */
export const runAside = makeThreadPool({ niceness: 10 });
