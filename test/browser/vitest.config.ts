import { defineConfig } from "vitest/config";
import { limits } from "../support/limits.ts";

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
    ...limits,
  },
});
