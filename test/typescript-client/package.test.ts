// @module-tag slow
import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { beforeAll, expect, test } from "vitest";
import { startDemo } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { clientEnv, clientReadme, installClient, readSnippets, runIn } from "../support/typescript-client.ts";
import { findPort } from "../support/find-port.ts";

// The package as a partner has it: packed, installed without a network in an empty folder, and used from there.

const root = join(import.meta.dirname, "../..");
const app = mkdtempSync(join(tmpdir(), "typescript-client-"));
const installed = join(app, "node_modules/@schultor/client");
let url: string;
let packed: string;
let script: string;

const snippets = () => readSnippets(url);
const bin = (name: string): string => join(root, "node_modules/.bin", name);

beforeAll(async () => {
  atFileEnd(() => rmSync(app, { recursive: true }));
  ({ url } = await startDemo());
  packed = await installClient(app);
  for (const { name, text } of snippets()) writeFileSync(join(app, name), text);
  script = await bundle();
});

test("holds what is built with openapi-fetch and nothing else, and its code imports that alone", async () => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
  const bundled = /^node_modules\/(openapi-fetch|openapi-typescript-helpers)\//;
  const others = names.filter((name) => !/^dist\/.*\.(d\.ts|js)$/.test(name) && !bundled.test(name));
  expect(others.sort()).toEqual(["LICENSE", "README.md", "package.json"]);
  const code = names.filter((name) => name.endsWith(".js")).map((name) => readFileSync(join(installed, name), "utf8"));
  const imported = code.flatMap((text) =>
    [...text.matchAll(/\bfrom "([^"]+)"|\bimport\(?"([^"]+)"/g)].map(([, from, bare]) => from ?? bare!),
  );
  expect(new Set(imported.filter((name) => !name.startsWith("./") && !name.startsWith("../")))).toEqual(
    new Set(["openapi-fetch"]),
  );
});

test("resolves, with its types, by the rules of publint and of arethetypeswrong", async () => {
  expect(await runIn(app, bin("publint"), "run", installed, "--strict", "--pack", "false")).toContain("All good!");
  const text = await runIn(
    app,
    bin("attw"),
    packed,
    "--profile",
    "esm-only",
    "--no-definitely-typed",
    "--no-color",
    "--no-emoji",
  );
  expect(text).toContain("OK (ESM)");
});

/** Types that differ by how an app reads Schulconnex codes. */
const spellings = `
import { createClient, type Client } from "@schultor/client";
const credentials = { issuer: "https://login.example.org", clientId: "app", clientSecret: "secret", scopes: [] };
export const plain: Client = createClient(credentials);
export const spelt: Client<"V1_7"> = createClient({ ...credentials, schulconnexSpelling: "V1_7" });
for (const { personenkontexte } of await spelt.listPersonenInfo()) {
  personenkontexte[0]!.rolle === "Lern";
  // @ts-expect-error -- the spelling of version 1.4
  personenkontexte[0]!.rolle === "LERN";
}
`;

test("the snippets of its README, and the spellings of Schulconnex, fit its types", async () => {
  const compilerOptions = {
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(join(app, "spellings.ts"), spellings);
  const files = [...snippets().map(({ name }) => name), "spellings.ts"];
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  await runIn(app, process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", app);
});

/** What each snippet prints; the one that goes on running has a test of its own. */
const printed: Record<string, RegExp> = {
  "client.ts": /^$/,
  "first-read.ts": /^Förderzentrum Süd\n[^]*Goethe-Gymnasium Musterstadt\n- TEACHER Ada\n[^]*- STUDENT \(no name\)\n$/,
  "errors.ts": /^400 invalid_request true\n$/,
  "erase.ts": /^0 confirmed\n$/,
  "copy.ts":
    /^\{ hasLoaded: true \}\n[^]*type: 'group', records: [1-9][^]*type: 'person', records: [1-9][^]*type: 'school', records: 2/,
};

test("each snippet of its README does what it says", async () => {
  expect(
    snippets()
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...Object.keys(printed), "webhooks.ts"].sort());
  for (const [name, text] of Object.entries(printed))
    expect(await runIn(app, process.execPath, name), name).toMatch(text);
  expect(await runIn(app, process.execPath, "copy.ts")).toMatch(/^\{ hasLoaded: false \}/);
});

test("the receiver of its README confirms what is genuine and refuses the rest", async () => {
  const secret = `whsec_${Buffer.from("a secret of a test").toString("base64")}`;
  const port = await findPort();
  const child = spawn(process.execPath, ["webhooks.ts"], {
    cwd: app,
    env: { ...clientEnv, PORT: `${port}`, WEBHOOK_SECRET: secret },
  });
  atFileEnd(() => child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  expect(output).toBe("listening\n");
  const body = '{"event":"person","action":"update","personId":"c0000000-0000-4000-8000-000000000002"}';
  const time = `${Math.floor(Date.now() / 1000)}`;
  const sign = (text: string) =>
    createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`an-id.${time}.${text}`)
      .digest("base64");
  const post = async (text: string, signature = sign(text)) =>
    (
      await fetch(`http://127.0.0.1:${port}`, {
        method: "POST",
        headers: { "webhook-id": "an-id", "webhook-timestamp": time, "webhook-signature": `v1,${signature}` },
        body: text,
      })
    ).status;
  expect([await post(body), await post(`${body} `, sign(body))]).toEqual([204, 401]);
  // A type that came later: whoever refuses it gets it again, until the address is paused.
  expect(await post('{"event":"room","action":"create","roomId":"c0000000-0000-4000-8000-000000000002"}')).toBe(204);
  expect(output).toBe("listening\n");
});

/** All that the package exports and openapi-fetch in one minified script. */
async function bundle(): Promise<string> {
  const entry = join(app, "all.js");
  writeFileSync(entry, 'export * from "@schultor/client"; export * from "@schultor/client/sqlite";');
  const result = await build({
    root: app,
    configFile: false,
    logLevel: "silent",
    build: { write: false, minify: true, target: "es2022", lib: { entry, formats: ["iife"], name: "schultor" } },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (!output || !("output" in output)) throw new Error("nothing was built");
  return output.output[0].code;
}

test("is as small as its README says", () => {
  const size = gzipSync(script).length;
  const stated = Number(
    /compressed, with its only dependency [a-z-]+, it is ([\d.]+) kB/.exec(clientReadme.replaceAll("\n", " "))![1],
  );
  expect(size / 1000).toBeLessThanOrEqual(stated);
  expect(size / 1000).toBeGreaterThan(stated - 1);
  expect(stated).toBeLessThanOrEqual(10);
});

test("reads and verifies where there is nothing but web standards", async () => {
  const globals = [
    ...[
      "fetch",
      "Request",
      "Response",
      "Headers",
      "FormData",
      "URL",
      "URLSearchParams",
      "AbortController",
      "AbortSignal",
    ],
    ...[
      "crypto",
      "TextEncoder",
      "TextDecoder",
      "setTimeout",
      "clearTimeout",
      "atob",
      "btoa",
      "Uint8Array",
      "ArrayBuffer",
    ],
  ];
  const web = Object.fromEntries(globals.map((name) => [name, (globalThis as Record<string, unknown>)[name]]));
  const client = snippets()
    .find(({ name }) => name === "client.ts")!
    .text.match(/createClient\([^]*\)/)![0];
  const program = `(async () => {
    const client = schultor.${client};
    const store = schultor.makeMemoryStore();
    await schultor.makeSync({ client, store }).follow();
    const error = await schultor.verifyWebhook("{}", new Headers(), "whsec_AAAA").catch((thrown) => thrown.code);
    return [store.school.size, store.person.size > 0, error, typeof process, typeof Buffer].join(" ");
  })()`;
  const context = createContext(web);
  runInContext(script, context);
  expect(await runInContext(program, context)).toBe("2 true missing_header undefined undefined");
});

test("a Node without node:sqlite is told which one has it", () => {
  const file = join(root, "clients/typescript/src/sqlite.ts");
  const program = `import { openSqlite } from ${JSON.stringify(file)}; await openSqlite(":memory:");`;
  const run = (...options: string[]) =>
    spawnSync(process.execPath, [...options, "--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(run()).toMatchObject({ status: 0 });
  expect(run("--no-experimental-sqlite").stderr).toContain("This Node has no node:sqlite: it needs 22.13 or later.");
});
