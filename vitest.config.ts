import { defineConfig } from "vitest/config";
import { installedServers } from "./test/support/servers.ts";

// What needs the database; it runs once more on every PostgreSQL that is installed on the machine.
const onDatabase = ["test/{access,api,directory,events,flows,sign-on}/**/*.test.ts", "test/platform/migrate.test.ts"];
const onItsOwn = ["{src,openapi,demo,bench,prisma}/**/*.test.ts", "test/{contract,platform,faults}/**/*.test.ts"];
const globalSetup = ["test/support/test-server.ts"];

// TEST_DATABASE_URL: a role that may make databases, on a server of yours, instead of the embedded one.
// `vitest --project embedded` leaves the installed ones out.
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    projects: [
      { test: { name: "embedded", include: [...onItsOwn, ...onDatabase], globalSetup, testTimeout: 30_000, hookTimeout: 60_000 } },
      ...installedServers().map(({ name }) => ({ test: { name, include: onDatabase, globalSetup, testTimeout: 30_000, hookTimeout: 60_000 } })),
    ],
  },
});
