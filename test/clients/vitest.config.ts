import { defineConfig } from "vitest/config";

// Clients of the published contract in other languages; languages.ts names the packages of Debian that they need.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "clients",
    include: ["test/clients/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/compile-cache.ts", "test/support/each-file.ts"],
    // As in vitest.config.ts: files share what they import, and Node reads the TypeScript itself.
    isolate: false,
    experimental: { viteModuleRunner: false },
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
