import { arrange, type Config } from "./arrange.ts";
import type { Option } from "./option.ts";
import { options, type Values } from "./options/index.ts";
import { findConflicts, findUnfitForProduction } from "./rules.ts";

export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries<Option>(options)) {
    const given = env[name] ?? option.default ?? undefined;
    if (given === undefined) continue;
    if (given.trim() === "") {
      problems.push(`${name} is set but empty. Give it a value, or remove it to get the default.`);
      continue;
    }
    const result = option.value.safeParse(given);
    if (result.success) values[name] = result.data;
    else
      problems.push(`${name}${option.secret ? "" : `=${given}`} is not understood. ${result.error.issues[0]?.message}`);
  }
  problems.push(...findConflicts(values));
  if (env["NODE_ENV"] === "production") problems.push(...findUnfitForProduction(values, env));
  if (problems.length > 0) throw new ConfigError(problems);
  return arrange(values as Values);
}
