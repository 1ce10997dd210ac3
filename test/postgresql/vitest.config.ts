import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";
import { installedServers } from "../support/servers.ts";
import { filesTagged } from "../support/suites.ts";

// What depends on the version of PostgreSQL, on the servers that Debian's packages put on the machine.
const shared = {
  ...slowSettings,
  include: filesTagged("every-postgresql"),
  globalSetup: ["test/support/test-server.ts"],
};

export default defineConfig({
  test: { maxWorkers: 2, projects: installedServers().map(({ name }) => ({ test: { ...shared, name } })) },
});
