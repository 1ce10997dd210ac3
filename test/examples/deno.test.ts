import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { startDemo } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { installClient, readSnippets, runIn } from "../support/typescript-client.ts";

const program = join(import.meta.dirname, "deno/node_modules/deno/bin.cjs");
const app = mkdtempSync(join(tmpdir(), "typescript-client-"));

beforeAll(async () => {
  atFileEnd(() => rmSync(app, { recursive: true }));
  const { url } = await startDemo();
  await installClient(app);
  for (const { name, text } of readSnippets(url)) writeFileSync(join(app, name), text);
});

/** Runs a file with the network of this machine and nothing else. */
const runDeno = (file: string): Promise<string> =>
  runIn(
    app,
    process.execPath,
    program,
    "run",
    "--quiet",
    "--cached-only",
    "--no-prompt",
    "--allow-net=localhost",
    file,
  );

test("the snippets of the package's README run in Deno with the right to nothing but the network", async () => {
  const read = await runDeno("first-read.ts");
  expect(read).toMatch(/^Förderzentrum Süd\n[^]*Goethe-Gymnasium Musterstadt\n- TEACHER Ada\n/);
  expect(await runDeno("errors.ts")).toBe("400 invalid_request true\n");
});

test("webhooks are verified in Deno, and a copy is kept", async () => {
  writeFileSync(
    join(app, "deno.ts"),
    `import { makeMemoryStore, makeSync, verifyWebhook } from "@schultor/client";
     import { client } from "./client.ts";
     const store = makeMemoryStore();
     await makeSync({ client, store }).follow();
     const code = await verifyWebhook("{}", new Headers(), "whsec_AAAA").catch((error) => error.code);
     console.log(store.school.size, store.person.size > 0, code, typeof Deno);`,
  );
  expect(await runDeno("deno.ts")).toBe("2 true missing_header object\n");
});
