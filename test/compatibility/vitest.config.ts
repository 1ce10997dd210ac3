import { defineConfig } from "vitest/config";
import { limits } from "../support/limits.ts";

// Relying parties of other makers, as their documentation sets them up; prepare.ts installs them before.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "compatibility",
    include: ["test/compatibility/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/each-file.ts"],
    ...limits,
  },
});
