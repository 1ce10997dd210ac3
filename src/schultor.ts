import { parseArgs } from "node:util";
import { ConfigError, options, readConfig, type Config } from "./config.ts";
import { systemClock } from "./platform/clock.ts";
import { openDatabase, type Db } from "./platform/db.ts";
import { applyMigrations, checkMigrated } from "./platform/migrate.ts";
import { DatabaseStartError, findRunningServer, openDatabaseServer } from "./platform/postgres/index.ts";
import { reEncryptSecrets, rotateSigningKeys } from "./sign-on/index.ts";

const exitCodes = { done: 0, failed: 1, wrongUsage: 2, badConfiguration: 78 };

const undefinedTable = "42P01";

/** What a command did: as lines for a person, and as data for --json. */
type Result = { lines: string[]; data: object };
type Command = { summary: string; run(config: Config): Promise<Result> };

const commands: Record<string, Command> = {
  "rotate-signing-keys": {
    summary: "Let the next signing keys sign, publish new next ones. Running processes follow within seconds.",
    run: (config) =>
      withDatabase(config, async ({ db }) => {
        await checkMigrated(db.pool);
        const active = await rotateSigningKeys({ db, keys: config.encryptionKeys, now: systemClock() });
        return { lines: active.map(({ algorithm, kid }) => `${algorithm} tokens are now signed with ${kid}`), data: { active } };
      }),
  },
  "re-encrypt": {
    summary: "Encrypt all secrets with the first of ENCRYPTION_KEYS, so that the others can be removed.",
    run: (config) =>
      withDatabase(config, async ({ db }) => {
        await checkMigrated(db.pool);
        const values = await reEncryptSecrets({ db, keys: config.encryptionKeys, now: systemClock() });
        return { lines: [`${values} values are now encrypted with the first key`], data: { values } };
      }),
  },
  migrate: {
    summary: "Bring the database to this version and end. A start does the same by itself.",
    run: (config) =>
      withDatabase(config, async ({ url }) => {
        const applied = await applyMigrations(url, { say: tell });
        return { lines: applied.length === 0 ? ["nothing to do"] : applied.map((name) => `applied ${name}`), data: { applied } };
      }),
  },
  "check-config": {
    summary: "Tell whether the service would accept its configuration.",
    run: async ({ issuerUrl, baseUrl, production }) => ({
      lines: [`The configuration is fit for ${production ? "production" : "development"}. Issuer: ${issuerUrl}`],
      data: { ok: true, production, issuerUrl, baseUrl },
    }),
  },
};

const help = `Usage: npm run -s schultor -- <command> [--json]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(20)} ${summary}`)
  .join("\n")}
  ${"help".padEnd(20)} Show this text.

  --json               Print the result as one JSON object.

It reads the same ${Object.keys(options).length} environment variables as the service (see the README).
Exit codes: 0 done, 1 failed, 2 wrong usage, 78 wrong configuration.`;

// Progress goes where it is not taken for the result.
function tell(line: string): void {
  console.error(line);
}

async function withDatabase<T>(config: Config, work: (given: { db: Db; url: string }) => Promise<T>): Promise<T> {
  const running = config.databaseUrl === undefined ? findRunningServer(config.dataDir) : null;
  const server = running === null ? await openDatabaseServer({ ...config, databaseReplicaUrl: undefined, say: tell }) : { url: running, stop: async () => {} };
  try {
    const db = openDatabase({ url: server.url, poolSize: 2 });
    return await work({ db, url: server.url }).finally(() => db.close());
  } finally {
    await server.stop();
  }
}

type Call = { command: Command; json: boolean } | "help" | { wrong: string };

function readCall(args: string[]): Call {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { json: { type: "boolean", default: false }, help: { type: "boolean", short: "h" } } });
    const [name, ...rest] = positionals;
    if (values.help === true || name === undefined || name === "help") return name === undefined && values.help !== true ? { wrong: "A command is missing." } : "help";
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined) return { wrong: `There is no command '${name}'.` };
    return rest.length > 0 ? { wrong: `'${name}' takes no arguments.` } : { command, json: values.json };
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

function complain(message: string, json: boolean): void {
  console.error(json ? JSON.stringify({ error: message }) : message);
}

async function main(args: string[]): Promise<number> {
  const call = readCall(args);
  if (call === "help") {
    console.log(help);
    return exitCodes.done;
  }
  if ("wrong" in call) {
    complain(`${call.wrong}\n\n${help}`, false);
    return exitCodes.wrongUsage;
  }
  try {
    const { lines, data } = await call.command.run(readConfig());
    console.log(call.json ? JSON.stringify(data) : lines.join("\n"));
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ConfigError) {
      complain(error.message, call.json);
      return exitCodes.badConfiguration;
    }
    const isEmpty = (error as { code?: unknown }).code === undefinedTable;
    if (!isEmpty && !(error instanceof DatabaseStartError)) throw error;
    complain(isEmpty ? "The database is empty. Start the service once, or run the command migrate." : (error as Error).message, call.json);
    return exitCodes.failed;
  }
}

process.exitCode = await main(process.argv.slice(2));
