// @module-tag slow
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { expectReady } from "../support/ready.ts";

const root = join(import.meta.dirname, "../..");
const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8");
const [, built = "", image = ""] = containerfile.split(/^FROM /m);
const copied = [...image.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)].flatMap(([, files, to]) =>
  files!.split(" ").map((from) => ({ from, to: to! })),
);

const folder = mkdtempSync(join(tmpdir(), "schultor-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The packages that `npm ci --omit=dev` installs, without those that the Containerfile removes. */
function listPackages(): string[] {
  type Locked = { dev?: boolean };
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const removed = [...built.matchAll(/rm -rf (\S+)/g)].map(([, path]) => path!);
  return Object.entries(packages)
    .filter(([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true)
    .map(([path]) => path)
    .filter((path) => !removed.some((gone) => path.startsWith(gone)) && existsSync(join(root, path)));
}

/** Puts into the folder what the image holds; packages are links. */
function fill(): void {
  for (const { from, to } of copied) {
    const target = to === "./" ? join(folder, basename(from)) : join(folder, to);
    const isLeftOut = (path: string) => path.endsWith(".test.ts") || path.endsWith("demo/screenshots");
    cpSync(join(root, from), target, { recursive: true, filter: (path) => !isLeftOut(path) });
  }
  for (const path of listPackages()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}

beforeAll(fill);

/** Runs a program in the folder, in the image's environment and what is given. Once ready it is asked and ended. */
async function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], NODE_ENV: "production", METRICS_PORT: "0", ...env },
  });
  let output = "";
  let asked: Promise<void> | undefined;
  const ask = (port: string) => expectReady(`http://127.0.0.1:${port}`).finally(() => child.kill("SIGTERM"));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const port = /"metricsPort":(\d+).*"msg":"ready"/.exec(output)?.[1];
      if (port !== undefined) asked ??= ask(port);
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  await asked;
  return { code, output, isAsked: asked !== undefined };
}

test("the files and packages of the image are enough to migrate, to get ready in each role, and to stop", async () => {
  const db = await testDatabase();
  const env = {
    ISSUER_URL: "https://login.example.org",
    DATABASE_URL: db.url,
    ENCRYPTION_KEYS: Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7)).toString("base64"),
    HOST: "127.0.0.1",
    PORT: "0",
  };
  const migrated = await run(["src/schultor.ts", "migrate"], env);
  expect(migrated.output).toMatch(/Applied|Nothing to do/);
  expect(migrated.code).toBe(0);

  const start = async (role: string) => {
    const { code, output, isAsked } = await run(["src/main.ts"], { ...env, ROLE: role });
    expect({ code, isAsked }, output).toEqual({ code: 0, isAsked: true });
  };
  await Promise.all(["web", "worker"].map(start));
});

test("the image packs every download for partners", async () => {
  const origin = { issuerUrl: "https://login.example.org", baseUrl: "https://login.example.org", platform: "schultor" };
  const pack = `
    const { default: make } = await import("./src/publish/make-package.ts");
    const { packageNames } = await import("./clients/pack/names.ts");
    for (const name of packageNames) console.log(name, (await make({ name, origin: ${JSON.stringify({ ...origin, repository: null, licence: "UNLICENSED" })} })).length);`;
  const { output, code } = await run(["--input-type=module", "--eval", pack], {});
  expect(code, output).toBe(0);
});

test("the image runs as nobody's account, and its health check asks the port that it opens", () => {
  expect(image).toMatch(/^USER 10001:10001$/m);
  expect(image).toMatch(/^ENV .*\bMETRICS_PORT=9464\b/m);
  expect(image).toMatch(/^HEALTHCHECK [^]*process\.env\.METRICS_PORT[^]*\/health\/ready/m);
});
