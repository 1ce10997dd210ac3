// Runs in a thread of its own.
import { packClient } from "./client.ts";
import { packCommandLine } from "./command-line.ts";
import type { PackageName } from "../contents.ts";
import type { Origin } from "./pack.ts";
import { makeRulesPacker } from "./spectral-rules.ts";
import { makeTutorialPacker } from "./tutorial.ts";

// The function that removes types is experimental, and Node says so at its first call.
process.removeAllListeners("warning");

const makers: Record<PackageName, (origin: Origin) => Promise<Buffer>> = {
  "schultor-client.tgz": packClient,
  "schultor-cli.tgz": packCommandLine,
  "spectral-rules.js": makeRulesPacker("general"),
  "spectral-rules-schultor.js": makeRulesPacker("schultor"),
  "tutorial-typescript.tgz": makeTutorialPacker("tutorial-typescript", "express/package.json"),
  "tutorial-python.tgz": makeTutorialPacker("tutorial-python", "python/requirements.txt"),
  "tutorial-php.tgz": makeTutorialPacker("tutorial-php"),
};

export default async ({ name, origin }: { name: PackageName; origin: Origin }): Promise<Uint8Array> =>
  makers[name](origin);
