import { afterAll } from "vitest";
import { endPrograms } from "./program.ts";

// Registered for each file, because inside a running test it would come too late to count.
afterAll(endPrograms);
