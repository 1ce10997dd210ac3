import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientLanguages, generatorVersion } from "../../openapi/tools/generator.ts";
import { languages } from "./languages.ts";
import { servers } from "./servers.ts";

const root = join(import.meta.dirname, "../..");
const page = join(root, "docs/generated-clients.md");
/** Other generators write theirs here. */
const others = join(root, "test/generators/results.json");

/** What was done with a client. Shape: `did` has a few words for each thing that was run. */
export type Result = { generator: string; version: string; language: string; did: string[] };

const titles: Record<string, string> = {
  php: "PHP",
  go: "Go",
  java: "Java",
  python: "Python",
  csharp: "C#",
  kotlin: "Kotlin",
};
const titleOf = (name: string) => titles[name] ?? name;

/** What the tests of this folder do with each language. */
function listResults(): Result[] {
  const ran = new Map(languages.map(({ name, compiles }) => [name, compiles]));
  return clientLanguages.map((name) => {
    const did = ["every operation", "refusals", "types"];
    const compiled = ran.get(name) ? ["compiled", ...did] : did;
    const language = titleOf(name === "typescript-fetch" ? "TypeScript" : name);
    const generator = `openapi-generator ${name}`;
    return { generator, version: generatorVersion, language, did: ran.has(name) ? compiled : ["generated only"] };
  });
}

/** What receives webhooks. */
function listServers(): Result[] {
  return servers.map(({ name, compiles }) => ({
    generator: `openapi-generator ${name}`,
    version: generatorVersion,
    language: name === "go-server" ? "Go" : "Python",
    did: [...(compiles ? ["compiled"] : []), "receives webhooks"],
  }));
}

const readOthers = () => (existsSync(others) ? (JSON.parse(readFileSync(others, "utf8")) as Result[]) : []);

/** The page with the table of the results in it. */
export function printPage(text = readFileSync(page, "utf8")): string {
  const rows = [...listResults(), ...listServers(), ...readOthers()]
    .sort((a, b) => a.language.localeCompare(b.language) || a.generator.localeCompare(b.generator))
    .map(({ language, generator, version, did }) => `| ${language} | ${generator} | ${version} | ${did.join(", ")} |`);
  const table = ["| Language | Generator | Version | What was run |", "|---|---|---|---|", ...rows].join("\n");
  return text.replace(/(<!-- results:.*-->\n)[^]*(<!-- end of results -->)/, `$1\n${table}\n\n$2`);
}

if (import.meta.main) writeFileSync(page, printPage());
