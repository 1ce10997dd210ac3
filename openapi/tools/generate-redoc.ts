import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Makes `generated/redoc/` of the given project folder: the program of the reference pages and its licence, without
 * the picture that it would fetch from its maker. As a package of production, redoc would bring another 88.
 */
export async function generateRedoc(root: string): Promise<void> {
  const out = join(root, "generated", "redoc");
  await mkdir(out, { recursive: true });
  const { resolve } = createRequire(import.meta.url);
  const program = await readFile(resolve("redoc/bundles/redoc.standalone.js"), "utf8");
  await writeFile(
    join(out, "redoc.standalone.js"),
    program.replaceAll("https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"),
  );
  const licences = "redoc.standalone.js.LICENSE.txt";
  await copyFile(resolve(`redoc/bundles/${licences}`), join(out, licences));
  await copyFile(join(resolve("redoc/package.json"), "../LICENSE"), join(out, "LICENSE"));
}
