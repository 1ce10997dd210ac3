import { arrange, type Config } from "./arrange.ts";
import { options, type Values } from "./options/index.ts";
import type { Option } from "./values.ts";
import { developmentKey } from "./options/sign-on.ts";

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
    const text = env[name] ?? option.default;
    if (text === undefined) continue;
    if (text.trim() === "") {
      problems.push(`${name} is set but empty. Give it a value, or remove it to get the default.`);
      continue;
    }
    const result = option.value.safeParse(text);
    if (result.success) values[name] = result.data;
    else
      problems.push(`${name}${option.secret ? "" : `=${text}`} is not understood. ${result.error.issues[0]?.message}`);
  }
  problems.push(...findConflicts(values));
  if (env["NODE_ENV"] === "production") problems.push(...findUnfitForProduction(values, env));
  if (problems.length > 0) throw new ConfigError(problems);
  return arrange(values as Values);
}

/** Finds conflicts between options. Values that are invalid by themselves are undefined here. */
function findConflicts(values: Partial<Values>): string[] {
  const rules: [wrong: boolean, problem: string][] = [
    [
      values.ROLE !== undefined && values.ROLE !== "all" && values.DATABASE_URL === undefined,
      `ROLE=${values.ROLE} needs DATABASE_URL: the embedded PostgreSQL belongs to one process, which then has ` +
        "to do everything.",
    ],
    [
      values.DATABASE_REPLICA_URL !== undefined && values.DATABASE_URL === undefined,
      "DATABASE_REPLICA_URL needs DATABASE_URL: the embedded PostgreSQL has no replica.",
    ],
    [
      values.METRICS_PORT !== undefined && values.METRICS_PORT !== 0 && values.METRICS_PORT === values.PORT,
      "METRICS_PORT is the same as PORT. Choose another one, or leave it out and set METRICS_TOKEN.",
    ],
    [
      values.SIGN_ON_WITHOUT_PKCE_DEPRECATED !== undefined &&
        values.SIGN_ON_WITHOUT_PKCE_SUNSET !== undefined &&
        values.SIGN_ON_WITHOUT_PKCE_SUNSET <= values.SIGN_ON_WITHOUT_PKCE_DEPRECATED,
      "SIGN_ON_WITHOUT_PKCE_SUNSET is not after SIGN_ON_WITHOUT_PKCE_DEPRECATED. Give apps time between the two.",
    ],
    [
      (values.RETENTION_RESTORE_DAYS_MIN ?? 0) > (values.RETENTION_RESTORE_DAYS_MAX ?? Infinity),
      "RETENTION_RESTORE_DAYS_MIN is greater than RETENTION_RESTORE_DAYS_MAX, so no school could choose a time.",
    ],
  ];
  return rules.filter(([wrong]) => wrong).map(([, problem]) => problem);
}

function findUnfitForProduction(values: Partial<Values>, env: NodeJS.ProcessEnv): string[] {
  const rules: [wrong: boolean, problem: string][] = [
    [
      env["ISSUER_URL"] === undefined,
      "ISSUER_URL is missing. Set it to the https address of the sign-on, for example " +
        "ISSUER_URL=https://login.example.org.",
    ],
    [
      values.ISSUER_URL?.startsWith("http:") === true,
      "ISSUER_URL must start with https:// in production: passwords and tokens travel over it.",
    ],
    [
      values.BASE_URL?.startsWith("http:") === true,
      "BASE_URL must start with https:// in production: tokens and pupils' names travel over it.",
    ],
    [env["ENCRYPTION_KEYS"] === undefined, "ENCRYPTION_KEYS is missing. Make one with: openssl rand -base64 32"],
    [
      env["ENCRYPTION_KEYS"] !== undefined &&
        values.ENCRYPTION_KEYS?.some((key) => key.toString("base64") === developmentKey) === true,
      "ENCRYPTION_KEYS holds the published development key. Make your own with: openssl rand -base64 32",
    ],
    [
      values.ENCRYPTION_KEYS?.some((key) => new Set(key).size < 8) === true,
      "ENCRYPTION_KEYS holds a key that is not random. Make one with: openssl rand -base64 32",
    ],
    [
      env["DATABASE_URL"] === undefined && values.ALLOW_EMBEDDED_DATABASE !== true,
      "DATABASE_URL is missing. Set it to your PostgreSQL server, or ALLOW_EMBEDDED_DATABASE=true to run on the " +
        "embedded one.",
    ],
    [values.DEMO_WORLD === true, "DEMO_WORLD=true is refused in production: its passwords are published. Remove it."],
    [
      values.WEBHOOK_ALLOW_PRIVATE_ADDRESSES === true,
      "WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true is refused in production: it lets apps reach your inner network " +
        "through the service. Remove it.",
    ],
    [
      env["METRICS_PORT"] === undefined && env["METRICS_TOKEN"] === undefined,
      "METRICS_PORT and METRICS_TOKEN are both missing: /metrics would be open to everybody. Set one of them.",
    ],
  ];
  return rules.filter(([wrong]) => wrong).map(([, problem]) => problem);
}
