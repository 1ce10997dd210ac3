import { defineConfig } from "vitest/config";

// What a person sees, in a real Chromium: Debian's chromium-headless-shell or chromium, or what CHROMIUM names.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "browser",
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/compile-cache.ts", "test/support/each-file.ts"],
    maxWorkers: 2,
    // As in vitest.config.ts: files share what they import, and Node reads the TypeScript itself.
    isolate: false,
    experimental: { viteModuleRunner: false },
    // Long, because they only end what hangs, also on a machine that is busy with other work.
    expect: { poll: { timeout: 120_000 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
