import { defineConfig } from "vitest/config";

// What a person sees, in a real Chromium: CHROMIUM names its binary where it is not /usr/bin/chromium.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "browser",
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    setupFiles: ["test/support/each-file.ts"],
    maxWorkers: 2,
    expect: { poll: { timeout: 30_000 } },
    // Long, because they only end what hangs, also on a machine that is busy with other work.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
