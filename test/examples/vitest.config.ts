import { defineConfig } from "vitest/config";
import { slowSettings } from "../support/run-settings.ts";

// The examples, and the package for partners in Deno. What npm has for them the set-up installs; besides they need
// Debian's python3-authlib, python3-flask, python3-requests, php-cli, php-curl, php-mbstring, php-guzzlehttp-guzzle,
// default-jre-headless.
export default defineConfig({
  test: {
    ...slowSettings,
    name: "examples",
    include: ["test/examples/**/*.test.ts"],
    globalSetup: ["test/examples/install.ts", "test/support/test-server.ts"],
    // One file at a time, because the apps of the tutorials listen on the ports that the pages name.
    maxWorkers: 1,
    // What is asked again and again takes the processors from the apps.
    expect: { poll: { timeout: 120_000, interval: 250 } },
  },
});
