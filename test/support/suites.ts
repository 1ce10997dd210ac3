import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What a line at the head of a file of tests says, such as `// @module-tag slow`, or one of its tests, such as
 * `{ tags: "model" }`, with what it means.
 */
export const tags = {
  slow: "starts programs or a second service, waits for real time, plays a suite of others or moves much data",
  model: "walks at random: shortly in the fast suite, in full in the slow one",
  "every-postgresql": "runs on every installed PostgreSQL as well",
};
export type Tag = keyof typeof tags;

const root = join(import.meta.dirname, "../..");

// Need a Chromium, Java and Python, or packages of their own, and have configurations of their own.
export const apart = "test/{browser,clients,compatibility,examples,generators}/**";
export const everything = "{src,openapi,demo,prisma,bench,test}/**/*.test.ts";

/** The files that have this tag, at their head or at one of their tests, relative to the project's root. */
export function filesTagged(tag: Tag): string[] {
  const files = globSync(everything, { cwd: root, exclude: [apart] });
  const tagged = new RegExp(`^// @module-tag ${tag}$|\\{ tags: "${tag}"`, "m");
  return files.filter((file) => tagged.test(readFileSync(join(root, file), "utf8"))).toSorted();
}
