import { enableCompileCache } from "node:module";
import { join } from "node:path";

/** Where what one process has compiled waits for the next ones. */
export const compileCache = join(import.meta.dirname, "../../.cache/compile");

enableCompileCache(compileCache);
// For programs that get the environment of the tests.
process.env["NODE_COMPILE_CACHE"] ??= compileCache;
