import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { runSettings, slowSettings } from "./test/support/run-settings.ts";
import { apart, everything, filesTagged } from "./test/support/suites.ts";

const globalSetup = ["test/support/test-server.ts"];
const slow = filesTagged("slow");

// TEST_DATABASE_URL: a role that may make databases, on a server of yours, instead of the embedded one.
export default defineConfig({
  test: {
    coverage: {
      include: ["src/**/*.ts"],
      reporter: ["json-summary"],
      reportsDirectory: ".cache/coverage",
      reportOnFailure: true,
      thresholds: { lines: 90 },
    },
    sequence: { seed: 7 },
    projects: [
      {
        test: {
          ...runSettings,
          name: "fast",
          include: [everything],
          exclude: [apart, ...slow],
          globalSetup,
          // A test that needs another one fails. The seed is the same in every run, so that chance has no part in it.
          sequence: { shuffle: { tests: true } },
          // More than the processors of a small machine, because tests wait for the database.
          maxWorkers: Math.max(3, Math.ceil(availableParallelism() / 2)),
        },
      },
      {
        test: {
          ...slowSettings,
          name: "slow",
          include: slow,
          globalSetup,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...slowSettings,
          name: "models",
          include: filesTagged("model"),
          env: { TEST_WHOLE: "1" },
          globalSetup,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
