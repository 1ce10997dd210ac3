import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";

// Relying parties of other makers, as their documentation sets them up; prepare.ts installs them before.
export default defineConfig({
  test: {
    ...slowSettings,
    name: "compatibility",
    include: ["test/compatibility/*.test.ts"],
    globalSetup: ["test/support/test-server.ts"],
  },
});
