import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import type { Origin } from "./pack.ts";
import { root } from "./read-program.ts";

const folder = join(root, "openapi/rules");

type Rule = { documentationUrl?: string } | string;
type Ruleset = { aliases: object; rules: Record<string, Rule> };

/** A function of a rule as an expression; its file declares what it needs, and exports it. */
const expressionOf = (file: string): string =>
  `(() => {\n${readFileSync(join(folder, "functions", file), "utf8").replace("export default function", "return function")}})()`;

/** Spectral takes no `documentationUrl` without a full host name. */
const canLink = (address: string): boolean => /\.[a-z]+$/.test(new URL(address).hostname);

function rulesetOf(file: string, extended: string, issuerUrl: string): string {
  const { aliases, rules } = parse(readFileSync(join(folder, file), "utf8")) as Ruleset;
  for (const [name, rule] of Object.entries(rules))
    if (typeof rule === "object") {
      if (canLink(issuerUrl)) rule.documentationUrl = `${issuerUrl}/docs/rules/${name}`;
      else delete rule.documentationUrl;
    }
  const text = JSON.stringify({ aliases, rules }, null, 2);
  return `{\n"extends": ${extended},${text.slice(1).replaceAll(/"function": "(\w+)"/g, '"function": functions["$1"]')}`;
}

/**
 * Packs the Spectral rules into one module, which needs no other file of this project: `spectral lint -r` reads it from
 * a file or an address. `rules` are those for any contract, or these and the service's own.
 */
export const makeRulesPacker =
  (rules: "general" | "schultor") =>
  async ({ issuerUrl }: Origin): Promise<Buffer> => {
    const own = readdirSync(join(folder, "functions")).toSorted();
    const functions = own.map((file) => `  ${basename(file, ".js")}: ${expressionOf(file)},`).join("\n");
    const general = rulesetOf("general.yaml", '[[oas, "recommended"]]', issuerUrl);
    const all = rules === "general" ? general : rulesetOf("schultor.yaml", "[general]", issuerUrl);
    return Buffer.from(`// The rules that ${issuerUrl}/docs/rules explains.
import * as core from "@stoplight/spectral-functions";
import { oas } from "@stoplight/spectral-rulesets";

const functions = {
  ...core,
${functions}
};
${rules === "general" ? "" : `const general = ${general};\n`}
export default ${all};
`);
  };
