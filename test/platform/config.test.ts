import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError, options, readConfig, settlePort } from "../../src/config/index.ts";

const root = join(import.meta.dirname, "../..");

const production = {
  NODE_ENV: "production",
  ISSUER_URL: "https://login.example.org",
  DATABASE_URL: "postgresql://schultor:pw@db/schultor",
  ENCRYPTION_KEYS: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
  METRICS_PORT: "9464",
};

function findProblems(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test("the end of sign-on without PKCE comes after it is deprecated", () => {
  const [deprecated, sunset] = ["2027-01-01T00:00:00Z", "2026-01-01T00:00:00Z"];
  const problems = findProblems({ SIGN_ON_WITHOUT_PKCE_DEPRECATED: deprecated, SIGN_ON_WITHOUT_PKCE_SUNSET: sunset });
  expect(problems).toEqual([expect.stringContaining("SUNSET is not after")]);
  for (const wrong of ["1 August 2028", "2028-02-30T00:00:00Z", "2028-08-01T24:00:00Z", "2028-08-01"])
    expect(findProblems({ SIGN_ON_WITHOUT_PKCE_SUNSET: wrong }), wrong).toEqual([expect.stringContaining("in UTC")]);
});

test("a restore window can be chosen between its limits", () => {
  const limits = { RETENTION_RESTORE_DAYS_MIN: "30", RETENTION_RESTORE_DAYS_MAX: "29" };
  expect(findProblems(limits)).toEqual([expect.stringContaining("no school could choose")]);
  expect(findProblems({ ...limits, RETENTION_RESTORE_DAYS_MAX: "30" })).toEqual([]);
});

test("nothing set: a development service on localhost with its embedded database and the demo world", () => {
  expect(readConfig({})).toMatchObject({
    issuerUrl: "http://localhost:3000",
    baseUrl: "http://localhost:3000",
    host: "localhost",
    platform: "schultor",
    databaseUrl: undefined,
    dataDir: ".data",
    demoWorld: true,
    production: false,
  });
});

test("every default is a value that its own option accepts", () => {
  expect(findProblems({})).toEqual([]);
});

test("the issuer follows the port, and the base address follows the issuer", () => {
  expect(readConfig({ PORT: "8080" })).toMatchObject({
    issuerUrl: "http://localhost:8080",
    baseUrl: "http://localhost:8080",
  });
});

test("with port 0 the addresses follow the port that was found", () => {
  expect(settlePort(readConfig({ PORT: "0" }), 4711)).toMatchObject({
    port: 4711,
    issuerUrl: "http://localhost:4711",
    baseUrl: "http://localhost:4711",
  });
  expect(settlePort(readConfig({ PORT: "0", ISSUER_URL: "http://sso.test" }), 4711).issuerUrl).toBe("http://sso.test");
});

test("an address loses the slash at its end, because clients compare issuers letter by letter", () => {
  const config = readConfig({ ISSUER_URL: "https://login.example.org/", BASE_URL: "https://example.org/api/" });
  expect([config.issuerUrl, config.baseUrl]).toEqual(["https://login.example.org", "https://example.org/api"]);
});

test("all problems are told at once, each with what to do", () => {
  const problems = findProblems({
    PORT: "abc",
    PLATFORM: "",
    ISSUER_URL: "ftp://x",
    ROLE: "both",
    TRUSTED_PROXIES: "10.0.0.0/8,nonsense",
  });
  expect(problems).toHaveLength(5);
  expect(problems.join("\n")).toMatchInlineSnapshot(`
    "ISSUER_URL=ftp://x is not understood. Write an address that starts with https:// (or http:// in development) and has no query.
    PORT=abc is not understood. Write a whole number from 0 to 65535.
    TRUSTED_PROXIES=10.0.0.0/8,nonsense is not understood. Write addresses or networks such as 10.0.0.0/8, separated by commas.
    PLATFORM is set but empty. Give it a value, or remove it to get the default.
    ROLE=both is not understood. Write one of all, web, worker."
  `);
});

test.each([
  ["PORT", "70000"],
  ["PORT", "1e3"],
  ["PORT", "-1"],
  ["PORT", "80.5"],
  ["ACCESS_TOKEN_SECONDS", "0"],
  ["DATABASE_URL", "mysql://u:hush@db/x"],
  ["DATABASE_URL", "not an address"],
  ["ISSUER_URL", "https://login.example.org/path"],
  ["ISSUER_URL", "https://login.example.org?x=1"],
  ["ISSUER_URL", "login.example.org"],
  ["DEMO_WORLD", "yes"],
  ["ENCRYPTION_KEYS", "too-short"],
  ["METRICS_TOKEN", "short"],
])("%s=%s is refused", (name, value) => {
  const problems = findProblems({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(name);
});

test("a refused secret is not repeated in the message", () => {
  const problems = findProblems({
    DATABASE_URL: "mysql://u:hush@db/x",
    ENCRYPTION_KEYS: "hush",
    METRICS_TOKEN: "hush",
  });
  expect(problems).toHaveLength(3);
  expect(problems.join()).not.toContain("hush");
});

test("several encryption keys are read, the first one first", () => {
  const second = Buffer.alloc(32, 7).toString("base64");
  const { encryptionKeys } = readConfig({ ENCRYPTION_KEYS: `${production.ENCRYPTION_KEYS}, ${second}` });
  expect(encryptionKeys.map((key) => key.toString("base64"))).toEqual([production.ENCRYPTION_KEYS, second]);
});

test("a full production configuration is accepted", () => {
  expect(readConfig(production)).toMatchObject({ production: true, demoWorld: false, host: "::" });
});

test("in production every processor answers requests; elsewhere, and where there are only jobs, one process does", () => {
  expect(readConfig(production).webProcesses).toBe(availableParallelism());
  expect(readConfig({}).webProcesses).toBe(1);
  expect(readConfig({ WEB_CONCURRENCY: "3" }).webProcesses).toBe(3);
  expect(readConfig({ ...production, ROLE: "worker", WEB_CONCURRENCY: "3" }).webProcesses).toBe(1);
});

test("several processes divide the passwords that are checked at a time, and each checks one at least", () => {
  const checkedBy = (inAll: string, processes: string) =>
    readConfig({ PASSWORD_HASH_CONCURRENCY: inAll, WEB_CONCURRENCY: processes }).passwordHashConcurrency;
  expect([checkedBy("8", "1"), checkedBy("8", "3"), checkedBy("2", "4")]).toEqual([8, 2, 1]);
});

test("unless told otherwise, the check of passwords leaves a processor to all other work", () => {
  const usual = Math.min(4, Math.max(1, availableParallelism() - 1));
  expect(readConfig({ WEB_CONCURRENCY: "1" }).passwordHashConcurrency).toBe(usual);
});

test("production without anything names everything that is missing", () => {
  const problems = findProblems({ NODE_ENV: "production" });
  expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
    "ISSUER_URL",
    "ENCRYPTION_KEYS",
    "DATABASE_URL",
    "METRICS_PORT",
  ]);
});

const developmentKey = options.ENCRYPTION_KEYS.default;

test.each([
  ["an http issuer", { ISSUER_URL: "http://login.example.org" }, "ISSUER_URL"],
  ["an http base address", { BASE_URL: "http://api.example.org" }, "BASE_URL"],
  ["the published key", { ENCRYPTION_KEYS: developmentKey }, "ENCRYPTION_KEYS"],
  [
    "the published key behind a real one",
    { ENCRYPTION_KEYS: `${production.ENCRYPTION_KEYS},${developmentKey}` },
    "ENCRYPTION_KEYS",
  ],
  ["a key of equal bytes", { ENCRYPTION_KEYS: Buffer.alloc(32).toString("base64") }, "ENCRYPTION_KEYS"],
  ["the demo world", { DEMO_WORLD: "true" }, "DEMO_WORLD"],
  ["calls to private addresses", { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" }, "WEBHOOK_ALLOW_PRIVATE_ADDRESSES"],
  ["no database", { DATABASE_URL: undefined }, "DATABASE_URL"],
  ["open metrics", { METRICS_PORT: undefined }, "METRICS_PORT"],
])("production refuses %s and says so", (_claim, change, name) => {
  const problems = findProblems({ ...production, ...change });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(name);
});

test("production runs on the embedded database only when told to", () => {
  expect(findProblems({ ...production, DATABASE_URL: undefined, ALLOW_EMBEDDED_DATABASE: "true" })).toEqual([]);
});

test("web and worker processes cannot share an embedded database", () => {
  expect(findProblems({ ROLE: "worker" })[0]).toContain("DATABASE_URL");
});

test("only the configuration reads the environment", () => {
  const readers = globSync("src/**/*.ts", { cwd: root }).filter((file) =>
    readFileSync(join(root, file), "utf8").includes("process.env"),
  );
  expect(readers.sort()).toEqual(["src/config/read.ts", "src/config/remote.ts"]);
});

test("every configured value is read by something", () => {
  const sources = globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !/^src\/config\/|\.test\.ts$/.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  const { lifetimes, ...rest } = readConfig({});
  const fields = [...Object.keys(rest), ...Object.keys(lifetimes)];
  expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(sources))).toEqual([]);
});
