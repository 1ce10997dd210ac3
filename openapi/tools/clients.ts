import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, findLosses } from "./client-types.ts";
import { bundleFolder, documentNames, readDocument } from "./document.ts";
import { generateClient, languages, prepareGenerator } from "./generator.ts";

const clients = join(import.meta.dirname, "../../.cache/clients");
const filled = join(import.meta.dirname, "../../.cache/bundles");

/** Makes the clients of every bundle in every language and returns what their types lost. */
async function makeClients(platform: string): Promise<string[]> {
  await prepareGenerator();
  await rm(clients, { recursive: true, force: true });
  await mkdir(filled, { recursive: true });
  const names = documentNames(bundleFolder);
  if (names.length === 0) throw new Error("There are no bundles: npm run generate");

  const losses: string[] = [];
  for (const bundle of names) {
    const file = join(filled, `${bundle}.yaml`);
    const text = await readFile(join(bundleFolder, `${bundle}.yaml`), "utf8");
    await writeFile(file, text.replaceAll("<platform>", platform));
    const document = readDocument(file);
    await Promise.all(
      languages.map(async (language) => {
        const folder = join(clients, language.name, bundle);
        await generateClient(file, bundle, language, folder);
        losses.push(...findLosses(document, language.name, folder));
      }),
    );
    const fields = fieldsOf(document).length;
    if (fields === 0) throw new Error(`${bundle} has no field to look at; is it empty?`);
    console.log(`${bundle}: ${languages.map(({ name }) => name).join(", ")}; ${fields} fields looked at in each`);
  }
  return losses;
}

const losses = await makeClients("schultor");
for (const loss of losses) console.error(`lost its type: ${loss}`);
process.exitCode = losses.length === 0 ? 0 : 1;
