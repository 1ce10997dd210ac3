import { defineConfig } from "vitest/config";
import { limits } from "../support/limits.ts";

// Clients of the published contract in other languages; languages.ts names the packages of Debian that they need.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "clients",
    include: ["test/clients/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/each-file.ts"],
    maxWorkers: 2,
    ...limits,
  },
});
