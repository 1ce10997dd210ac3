import { defineConfig } from "vitest/config";

// Clients and schemas of the published contract, made by generators from outside; prepare.ts makes them before.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "generators",
    include: ["test/generators/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/compile-cache.ts", "test/support/each-file.ts"],
    // As in vitest.config.ts: files share what they import, and Node reads the TypeScript itself.
    isolate: false,
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
