import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";

// Clients and schemas of the published contract, made by generators from outside; prepare.ts makes them before.
export default defineConfig({
  test: {
    ...slowSettings,
    name: "generators",
    include: ["test/generators/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
  },
});
