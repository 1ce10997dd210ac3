import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Every file of tests is a process of its own; what one has compiled the next ones take from here.
enableCompileCache(join(import.meta.dirname, "../../.cache/compile"));
