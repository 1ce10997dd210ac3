/*
 * pack: makes what partners install: the client, the command line, the Spectral rules, finished tutorials.
 *
 * Nouns:      package (an archive as of `npm pack`, or one module), origin (the service that hands it out).
 * Invariants: the same sources and origin give the same bytes; a package installs without a registry.
 * Never knows: the service. It reads the sources that it packs as files.
 */
export { packClient, readClient } from "./client.ts";
export { makePackage } from "./make.ts";
export type { Origin } from "./pack.ts";
