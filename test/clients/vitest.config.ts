import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";

// Clients of the published contract in other languages; languages.ts names the packages of Debian that they need.
export default defineConfig({
  test: {
    ...slowSettings,
    name: "clients",
    include: ["test/clients/**/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
    maxWorkers: 2,
  },
});
