import { defineConfig } from "vitest/config";
import { limits } from "../support/limits.ts";

// Clients and schemas of the published contract, made by generators from outside; prepare.ts makes them before.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "generators",
    include: ["test/generators/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/each-file.ts"],
    ...limits,
  },
});
