import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fillAddresses, fillPlatform } from "../fill.ts";
import { pack, type Origin } from "./pack.ts";
import { root, type Files } from "./read-program.ts";

const block = /^```\w+ file=(\S+)\n([^]*?)^```$/gm;

/** The files that the blocks of a page make, joined in their order. An indented block continues the one before. */
function readFilesOfPage(page: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const [, name, code] of page.matchAll(block)) {
    const before = files.get(name!);
    const isContinued = code!.startsWith(" ") || !name!.endsWith(".py");
    files.set(name!, before === undefined ? code! : `${before}\n${isContinued ? "" : "\n"}${code!}`);
  }
  return files;
}

/** Packs the finished folder of a tutorial, for the addresses of this service. `manifest` is that of an example. */
export const makeTutorialPacker =
  (name: string, manifest?: string) =>
  async ({ issuerUrl, baseUrl, platform }: Origin): Promise<Buffer> => {
    const place = { issuerUrl, serverUrl: baseUrl };
    const fill = (text: string) =>
      fillAddresses(fillPlatform(text.replaceAll("urn:schultor:", "urn:<platform>:"), platform), place);
    const read = (path: string) => readFileSync(join(root, path), "utf8");
    const client = `${issuerUrl}/downloads/schultor-client.tgz`;
    const files: Files = new Map();
    for (const [path, code] of readFilesOfPage(read(`docs/${name}.md`))) files.set(path, fill(code));
    if (manifest !== undefined)
      files.set(basename(manifest), read(`examples/${manifest}`).replace("file:../../clients/typescript", client));
    return pack(files, { folder: "my-app" });
  };
