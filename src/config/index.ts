/*
 * config: what the environment says, read once and checked.
 *
 * Nouns:      option (one environment variable with its meaning), configuration (all values, by topic).
 * Invariants: nothing else reads the environment; wrong values are refused together, each with what to write instead;
 *             a refused secret is never repeated; production refuses what is only fit for development.
 * Never knows: what the values are used for.
 */
export { settlePort } from "./arrange.ts";
export type { Config } from "./arrange.ts";
export { options } from "./options/index.ts";
export { ConfigError, readConfig } from "./read.ts";
export { readRemoteSettings, type RemoteSettings } from "./remote.ts";
