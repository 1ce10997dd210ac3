/** Of every run of tests. They only end what hangs, also on a machine that is busy with other work. */
export const limits = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 20 } },
};
