import { defineConfig } from "vitest/config";
import { installedServers } from "./test/support/servers.ts";

const everything = ["{src,openapi,demo,bench,prisma,test}/**/*.test.ts"];
// Need a Chromium, or Java and Python, and have configurations of their own.
const apart = "test/{browser,clients}/**";
// Tests that do not depend on the version of PostgreSQL.
const sameEverywhere = [
  "{src,openapi,demo,bench,prisma}/**",
  "test/{contract,faults,gates}/**",
  "test/cli/{help,readme}.test.ts",
  "test/platform/!(db|migrate).test.ts",
];
const shared = {
  include: everything,
  globalSetup: ["test/support/test-server.ts"],
  testTimeout: 120_000,
  hookTimeout: 180_000,
};

// TEST_DATABASE_URL: a role that may make databases, on a server of yours, instead of the embedded one.
// TEST_SERVERS=installed: the PostgreSQL servers that Debian's packages put on the machine, instead of the embedded one.
const onInstalled = process.env["TEST_SERVERS"] === "installed";

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: onInstalled
      ? installedServers().map(({ name }) => ({ test: { ...shared, name, exclude: [apart, ...sameEverywhere] } }))
      : [{ test: { ...shared, name: "embedded", exclude: [apart] } }],
  },
});
