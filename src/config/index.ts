/*
 * config: reads and checks the environment, once.
 *
 * Nouns:      option (one environment variable with its meaning), configuration (all values, by topic).
 * Invariants: nothing else reads the environment; all invalid values are reported together, each with what to write
 *             instead; the value of a refused secret is never printed; production refuses settings for development.
 * Never knows: what the values are used for.
 */
export { settlePort } from "./arrange.ts";
export type { Config } from "./arrange.ts";
export { options } from "./options/index.ts";
export { ConfigError, readConfig } from "./read.ts";
