import { existsSync, globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", ...globSync("docs/design/*.md")];
/** The page of an example: it is not in the repository. */
const examples = ["src/portal/size/index.ts"];

test.each(pages)("each file that %s names exists", (page) => {
  const named = readFileSync(page, "utf8").matchAll(/`((?:src|test|openapi|prisma|docs|demo|deploy)\/[\w./-]+)`/g);
  const missing = [...named].map(([, file]) => file!).filter((file) => !existsSync(file) && !examples.includes(file));
  expect(missing).toEqual([]);
});
