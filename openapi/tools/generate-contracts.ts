import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { inlineEnums } from "./inline-enums.ts";
import { inlineExamples } from "./inline-examples.ts";
import { runProgram } from "./run-program.ts";
import { respell } from "./spelling.ts";

/** Makes `generated/openapi/` of the given project folder from its `openapi/`. */
export async function generateContracts(root: string): Promise<void> {
  const out = join(root, "generated", "openapi");
  await mkdir(out, { recursive: true });
  const roots = (await readdir(join(root, "openapi"))).filter((name) => name.endsWith(".yaml"));
  for (const file of roots) {
    await runProgram("redocly", ["bundle", join("openapi", file), "--output", join(out, file)], root);
    const bundle = await readFile(join(out, file), "utf8");
    await writeFile(join(out, file), inlineExamples(bundle, join(root, "openapi", "examples")));
  }
  await writeFile(join(out, "schulconnex-1.7.yaml"), respell(await readFile(join(out, "schulconnex.yaml"), "utf8")));

  const bundles = [...roots, "schulconnex-1.7.yaml"];
  for (const file of bundles)
    await runProgram("openapi-typescript", [join(out, file), "--output", join(out, typesOf(file))], root);

  // Our own types keep the names of enums; what is published does without.
  for (const file of bundles) {
    const bundle = inlineEnums(await readFile(join(out, file), "utf8"));
    await writeFile(join(out, file), bundle);
    // What programs load: reading YAML takes thirty times as long.
    await writeFile(join(out, jsonOf(file)), `${JSON.stringify(parse(bundle), null, 1)}\n`);
  }

  const current = new Set(bundles.flatMap((file) => [file, jsonOf(file), typesOf(file)]));
  for (const file of await readdir(out)) if (!current.has(file)) await rm(join(out, file));
}

const typesOf = (bundle: string): string => bundle.replace(/yaml$/, "ts");
const jsonOf = (bundle: string): string => bundle.replace(/yaml$/, "json");
