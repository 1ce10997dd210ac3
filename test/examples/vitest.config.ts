import { defineConfig } from "vitest/config";

// The examples, and the package for partners in Deno. What npm has for them the set-up installs; besides they need
// Debian's python3-authlib, python3-flask, python3-requests, php-cli, php-curl, php-mbstring, php-guzzlehttp-guzzle,
// default-jre-headless.
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    name: "examples",
    include: ["test/examples/**/*.test.ts"],
    globalSetup: ["test/examples/install.ts", "test/support/test-server.ts"],
    setupFiles: ["test/support/compile-cache.ts", "test/support/each-file.ts"],
    // As in vitest.config.ts: files share what they import, and Node reads the TypeScript itself.
    isolate: false,
    experimental: { viteModuleRunner: false },
    // One file at a time, because packing the package for partners builds anew what the examples import.
    maxWorkers: 1,
    // Twice the minute after which the examples look at the feed when a webhook did not reach them.
    expect: { poll: { timeout: 120_000 } },
    // Long, because they only end what hangs, also on a machine that is busy with other work.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
