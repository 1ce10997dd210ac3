import { afterAll, afterEach, expect, vi } from "vitest";
import { beginFile, endFile } from "./file-end.ts";
import { takeFailures } from "./service-failures.ts";

// Vitest runs this for each file of tests, also where files share their modules.
beginFile(() => expect.getState().testPath);
afterEach(({ task }) => {
  const failures = takeFailures();
  if (task.result?.state === "fail" && failures.length > 0)
    console.error(`What services failed at in "${task.name}":\n${failures.join("\n")}`);
});
afterAll(async () => {
  // Vitest imports this file with the time in its address: while a clock stands still, it is not imported again.
  vi.useRealTimers();
  vi.restoreAllMocks();
  await endFile();
});
