import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import openapiTypes, { astToString, COMMENT_HEADER, type OpenAPI3 } from "openapi-typescript";
import { stringify } from "yaml";
import { writeAuditActions } from "./audit-actions.ts";
import { deriveSchemas } from "./derive-schemas.ts";
import type { Document } from "./document.ts";
import { takeCommands } from "./generate-commands.ts";
import { inlineEnums } from "./inline-enums.ts";
import { inlineExamples } from "./inline-examples.ts";
import { makeOneRoster11 } from "./oneroster-1.1.ts";
import { takeLabels } from "./property-labels.ts";
import { listShapes } from "./record-shapes.ts";
import { writeStaffOperations } from "./staff-operations.ts";
import { runProgram } from "./run-program.ts";
import { respell } from "./spelling.ts";

/** What the command line calls: `x-cli` of the admin contract, with the rest of each operation that it needs. */
const commandsFile = "admin-commands.json";

/** Makes `generated/openapi/` of the given project folder from its `openapi/`. */
export async function generateContracts(root: string): Promise<void> {
  const out = join(root, "generated", "openapi");
  await mkdir(out, { recursive: true });
  const roots = (await readdir(join(root, "openapi"))).filter((name) => name.endsWith(".yaml"));
  const files = roots.map((file) => join("openapi", file));
  await runProgram("redocly", ["bundle", ...files, "--ext", "json", "--output", out], root);
  const bundles = new Map<string, Document>();
  const labels = new Map<string, object>();
  for (const file of roots) {
    const name = file.replace(/\.yaml$/, "");
    const bundle = JSON.parse(await readFile(join(out, `${name}.json`), "utf8")) as Document;
    labels.set(name, takeLabels(bundle));
    deriveSchemas(bundle);
    inlineExamples(bundle, join(root, "openapi", "examples"));
    bundles.set(name, bundle);
  }
  const schulconnex = bundles.get("schulconnex");
  if (!schulconnex)
    throw new Error("openapi/schulconnex.yaml is missing; schulconnex-1.7 and schulconnex-1.8 are made from it.");
  bundles.set("schulconnex-1.7", respell(schulconnex, "V1_7"));
  bundles.set("schulconnex-1.8", respell(schulconnex, "V1_8"));
  const oneRoster = bundles.get("oneroster");
  if (!oneRoster) throw new Error("openapi/oneroster.yaml is missing; oneroster-1.1 is made from it.");
  bundles.set("oneroster-1.1", makeOneRoster11(oneRoster));

  const commands = takeCommands(bundles.get("admin")!);
  await writeFile(join(out, commandsFile), `${JSON.stringify(commands, null, 1)}\n`);

  for (const [name, bundle] of bundles) {
    const write = (extension: string, text: string) => writeFile(join(out, `${name}.${extension}`), text);
    // Our own types keep the names of enums; what is published does without.
    const types = await openapiTypes(structuredClone(bundle) as unknown as OpenAPI3, { silent: true });
    await write("ts", COMMENT_HEADER + astToString(types));
    const published = inlineEnums(bundle);
    await write("yaml", stringify(published, { aliasDuplicateObjects: false, lineWidth: 0, singleQuote: true }));
    // What programs load: reading YAML takes thirty times as long.
    await write("json", `${JSON.stringify(published, null, 1)}\n`);
  }

  const staffOperations = "admin-operations.ts";
  await writeFile(join(out, staffOperations), writeStaffOperations(bundles.get("admin")!));
  const auditActions = "audit-actions.ts";
  await writeFile(join(out, auditActions), writeAuditActions(bundles.get("admin")!));

  const shapesFile = "admin-shapes.json";
  await writeFile(join(out, shapesFile), `${JSON.stringify(listShapes(bundles.get("admin")!), null, 1)}\n`);

  const labelsFile = "property-labels.json";
  await writeFile(join(out, labelsFile), `${JSON.stringify(labels.get("admin"), null, 1)}\n`);

  const current = new Set([...bundles.keys()].flatMap((name) => [`${name}.yaml`, `${name}.json`, `${name}.ts`]));
  current.add(staffOperations);
  current.add(auditActions);
  current.add(commandsFile);
  current.add(shapesFile);
  current.add(labelsFile);
  for (const file of await readdir(out)) if (!current.has(file)) await rm(join(out, file));
}
