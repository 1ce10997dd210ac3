import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { allDocumentNames, bundleFolder } from "./document.ts";
import { clientLanguages, generateCode, serverLanguages, type Order } from "./generator.ts";

const cache = join(import.meta.dirname, "../../.cache");
const clients = join(cache, "clients");
const filled = join(cache, "bundles");
/** Languages whose clients no test runs: that one bundle can be generated is enough. */
const onlyGenerated = ["csharp", "kotlin"];

/** Makes the clients of every bundle in every language, and servers that receive webhooks. */
async function makeClients(platform: string): Promise<void> {
  await rm(clients, { recursive: true, force: true });
  await mkdir(filled, { recursive: true });
  const bundles = allDocumentNames(bundleFolder);
  if (bundles.length === 0) throw new Error("There are no bundles: npm run generate");
  const orders: Order[] = [];
  const order = (generator: string, bundle: string) =>
    orders.push({ generator, bundle, file: join(filled, `${bundle}.yaml`), folder: join(clients, generator, bundle) });
  for (const bundle of bundles) {
    const text = await readFile(join(bundleFolder, `${bundle}.yaml`), "utf8");
    await writeFile(join(filled, `${bundle}.yaml`), text.replaceAll("<platform>", platform));
    for (const language of clientLanguages)
      if (bundle === "idm" || !onlyGenerated.includes(language)) order(language, bundle);
  }
  for (const server of serverLanguages) order(server, "webhooks");
  await generateCode(orders);
  console.log(`${clients}: ${clientLanguages.join(", ")}`);
}

await makeClients("schultor");
