import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { parse } from "yaml";

const folder = join(import.meta.dirname, "../../openapi/rules");

type ExplainedRule = { name: string; description: string; text: string };
type RuleSet = { title: string; rules: ExplainedRule[] };
type Ruleset = { rules: Record<string, { description: string } | string> };

/** Rules that only set a severity are Spectral's own and have no page. */
function readRuleset(file: string): ExplainedRule[] {
  const { rules } = parse(readFileSync(join(folder, file), "utf8")) as Ruleset;
  return Object.entries(rules).flatMap(([name, rule]) =>
    typeof rule === "string" ? [] : [{ name, description: rule.description, text: explain(name, rule.description) }],
  );
}

function explain(name: string, description: string): string {
  const [title, ...rest] = readFileSync(join(folder, "docs", `${name}.md`), "utf8").split("\n");
  const lead = `${title!}\n\n**${description}**\n`;
  return `${lead}${rest.join("\n")}\nBoth are laid over a small contract that follows every rule: \`null\` removes what stands there.

[All rules](/docs/rules)\n`;
}

/** Read in several turns of the event loop: to parse the YAML takes long. */
export async function readRuleSets(): Promise<RuleSet[]> {
  const sets: RuleSet[] = [];
  for (const [title, file] of [
    ["For any contract", "general.yaml"],
    ["For the contracts of this service", "schultor.yaml"],
  ] as const) {
    await setImmediate();
    sets.push({ title, rules: readRuleset(file) });
  }
  return sets;
}

export const renderRuleList = (sets: RuleSet[]): string => `# Rules of the contract

[Spectral](https://github.com/stoplightio/spectral) holds every contract of this service against these rules, and against its own
recommended ones. [Reviewing a contract](/docs/contract-review#the-rules-for-your-own-contracts) explains how you hold your own contract
against those for any contract.
${sets.map(({ title, rules }) => `\n## ${title}\n\n${rules.map(listed).join("\n")}\n`).join("")}`;

const listed = ({ name, description }: ExplainedRule) => `- [\`${name}\`](/docs/rules/${name}): ${description}`;
