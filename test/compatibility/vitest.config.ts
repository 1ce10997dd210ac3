import { defineConfig } from "vitest/config";

// Relying parties of other makers, as their documentation sets them up; prepare.ts installs them before.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "compatibility",
    include: ["test/compatibility/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/compile-cache.ts", "test/support/each-file.ts"],
    // As in vitest.config.ts: files share what they import, and Node reads the TypeScript itself.
    isolate: false,
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
