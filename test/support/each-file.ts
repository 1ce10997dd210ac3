import { afterAll, afterEach } from "vitest";
import { endFile } from "./file-end.ts";
import { takeFailures } from "./service-failures.ts";

// Vitest runs this for each file of tests, also where files share their modules.
afterEach(({ task }) => {
  const failures = takeFailures();
  if (task.result?.state === "fail" && failures.length > 0)
    console.error(`What services failed at in "${task.name}":\n${failures.join("\n")}`);
});
afterAll(endFile);
