import { tags } from "./suites.ts";

/** Of every run of tests. */
export const runSettings = {
  root: new URL("../..", import.meta.url).pathname,
  setupFiles: ["test/support/compile-cache.ts", "test/support/quick-keys.ts", "test/support/each-file.ts"],
  // The files that one process runs share what they import, which takes longer to load than most files of tests to run.
  isolate: false,
  // More room for young objects: garbage is collected less often, which saves about 5 % of the processor time.
  execArgv: ["--min-semi-space-size=64", "--max-semi-space-size=64"],
  // Node reads the TypeScript itself, so that a file of tests starts quickly.
  // Without Vitest's loader, which reads every module for mocks; the tests mock no modules.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  // They only end what hangs, also on a machine that is busy with other work.
  testTimeout: 20_000,
  hookTimeout: 60_000,
};

/** Of the tests that start programs, a browser for instance, or wait for real time. */
export const slowSettings = {
  ...runSettings,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 20 } },
};
