import { defineConfig } from "vitest/config";
import { installedServers } from "./test/support/servers.ts";

const everything = ["{src,openapi,demo,bench,prisma,test}/**/*.test.ts"];
// Need a Chromium, or Java and Python, and have configurations of their own.
const apart = "test/{browser,clients}/**";
// What would say the same on every PostgreSQL; all else runs once more on each that is installed on the machine.
const sameEverywhere = [
  "{src,openapi,demo,bench,prisma}/**",
  "test/{contract,faults}/**",
  "test/platform/!(db|migrate).test.ts",
];
const shared = {
  include: everything,
  globalSetup: ["test/support/test-server.ts"],
  testTimeout: 120_000,
  hookTimeout: 180_000,
};

// TEST_DATABASE_URL: a role that may make databases, on a server of yours, instead of the embedded one.
// `vitest --project embedded` leaves the installed ones out.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: "embedded", exclude: [apart] } },
      ...installedServers().map(({ name }) => ({ test: { ...shared, name, exclude: [apart, ...sameEverywhere] } })),
    ],
  },
});
