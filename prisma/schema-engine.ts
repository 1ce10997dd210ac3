import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from "@prisma/driver-adapter-utils";
import type { SqlMigrationAwareDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import * as engineModule from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";

// TypeScript knows WebAssembly only together with a browser.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
};

const schemaFolder = join(import.meta.dirname, "schema");

/**
 * Asks Prisma's schema engine for the SQL that carries a database to the models of prisma/schema; empty when it is
 * there.
 *
 * Source: the engine that `prisma migrate` downloads as a program, here as WebAssembly from npm.
 */
export async function diffWithSchema(databaseUrl: string): Promise<string> {
  return withEngine(databaseUrl, async (engine, files) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: "schemaDatasource", files, configDir: import.meta.dirname },
      to: { tag: "schemaDatamodel", files },
      script: true,
      exitCode: true,
      filters,
    });
    return exitCode === 0 ? "" : keepByHand(stdout ?? "");
  });
}

/** What `prisma migrate status` would say of a database. */
export async function diagnoseMigrations(
  databaseUrl: string,
  migrationsFolder: string,
): Promise<engineModule.DiagnoseMigrationHistoryOutput> {
  const names = readdirSync(migrationsFolder).filter((name) => /^\d/.test(name));
  const read = (name: string) => readFileSync(join(migrationsFolder, name, "migration.sql"), "utf8");
  const migrationDirectories = names.map((path) => ({
    path,
    migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value: read(path) } },
  }));
  const lockfile = {
    path: "migration_lock.toml",
    content: readFileSync(join(migrationsFolder, "migration_lock.toml"), "utf8"),
  };
  const migrationsList = { baseDir: migrationsFolder, lockfile, shadowDbInitScript: "", migrationDirectories };
  return withEngine(databaseUrl, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters }),
  );
}

const filters = { externalTables: ["public._prisma_migrations"], externalEnums: [] };

type SchemaFiles = { path: string; content: string }[];

async function withEngine<T>(
  databaseUrl: string,
  work: (engine: engineModule.SchemaEngine, files: SchemaFiles) => Promise<T>,
): Promise<T> {
  const files = readdirSync(schemaFolder).map((name) => ({
    path: join(schemaFolder, name),
    content: readFileSync(join(schemaFolder, name), "utf8"),
  }));
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    loadEngine();
    const adapter = bindMigrationAwareSqlAdapterFactory(withCharColumns(pool));
    return await work(
      await engineModule.SchemaEngine.new(
        { datamodels: files.map(({ path, content }) => [path, content]) },
        () => undefined,
        adapter,
      ),
      files,
    );
  } finally {
    await pool.end();
  }
}

/**
 * Keys and indexes of constraints.sql are no difference, though the engine, which finds no model for them, would drop
 * them.
 */
function keepByHand(sql: string): string {
  const byHand = readFileSync(join(import.meta.dirname, "constraints.sql"), "utf8");
  const steps = withoutKeyOfPartitions(sql)
    .trim()
    .split(/\n(?=-- [A-Z])/);
  const dropped = /^-- Drop(?:ForeignKey|Index)\n.* "([^"]+)";\s*$/;
  return steps
    .filter((step) => step !== "" && !byHand.includes(`"${dropped.exec(step)?.[1] ?? ""}"`))
    .map((step) => `${step.trim()}\n`)
    .join("\n");
}

/**
 * The partitions of `audit` have the primary key of the model; the whole cannot, because its key would have to hold the
 * time as well.
 */
function withoutKeyOfPartitions(sql: string): string {
  const key = 'ADD CONSTRAINT "audit_pkey" PRIMARY KEY ("id")';
  return sql
    .replace(`-- AlterTable\nALTER TABLE "audit" ${key};`, "")
    .replace(`,\n${key};`, ";")
    .replace(`${key},\n`, "");
}

let isLoaded = false;

function loadEngine(): void {
  if (isLoaded) return;
  isLoaded = true;
  const bytes = readFileSync(
    fileURLToPath(new URL("schema_engine_bg.wasm", import.meta.resolve("@prisma/schema-engine-wasm/schema_engine_bg"))),
  );
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    "./schema_engine_bg.js": { ...engineModule },
  });
  engineModule.__wbg_set_wasm(exports);
  (exports["__wbindgen_start"] as () => void)();
}

const charType = 18;
const mark = "\0char";

/**
 * The adapter cannot read the one-letter columns of PostgreSQL's catalogue, which the engine asks for: they pass as
 * marked text.
 */
function withCharColumns(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const query = pool.query.bind(pool) as (config: unknown) => Promise<pg.QueryResult>;
  pool.query = (async (config: unknown) => {
    const result = await query(config);
    for (const field of result.fields.filter(({ dataTypeID }) => dataTypeID === charType))
      Object.assign(field, { dataTypeID: pg.types.builtins.TEXT, name: field.name + mark });
    return result;
  }) as typeof pool.query;

  const factory = new PrismaPg(pool);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (sql) => {
      const result = await queryRaw(sql);
      result.columnTypes = result.columnTypes.map((type, i) =>
        result.columnNames[i]!.endsWith(mark) ? ColumnTypeEnum.Character : type,
      );
      result.columnNames = result.columnNames.map((name) => name.replace(mark, ""));
      return result;
    };
    return adapter;
  };
  return factory;
}
