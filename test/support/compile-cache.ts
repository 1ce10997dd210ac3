import { enableCompileCache } from "node:module";
import { join } from "node:path";

/** Where what one process has compiled waits for the next ones; programs get it as `NODE_COMPILE_CACHE`. */
export const compileCache = join(import.meta.dirname, "../../.cache/compile");

enableCompileCache(compileCache);
