import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";

// What a person sees, in a real Chromium: Debian's chromium-headless-shell or chromium, or what CHROMIUM names.
export default defineConfig({
  test: {
    ...slowSettings,
    name: "browser",
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    maxWorkers: 2,
  },
});
