import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { runHere } from "./program.ts";

// The example of openapi/webhooks.yaml.
const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
const body =
  '{"event":"person","action":"update","updatedProperties":["groups"],"personId":"c0000000-0000-4000-8000-000000000002"}';
const ep = "7d39f73a8da5a01e17d23ca6de0d45642b993d98844b06351528b2e4f12f92ef";

const standard = "v1,rOJqom4q83sAKuWnAzSXvvMNk3l1d36nEByQZfP69XY=";

const folder = makeDataDir();
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const run = runHere({ XDG_CONFIG_HOME: folder });
const command = ["webhook", "debug-signature", "--secret-file", write("secret", `${secret}\n`)];
const headersFile = write("headers", `POST /hook HTTP/1.1\r\nX-EP-Signature-Sha256: ${ep}\r\n\r\n`);

test("a good signature ends with 0, a body with another end with 1 and what to do", async () => {
  const good = await run([...command, "--headers-file", headersFile, "--body-file", write("body", body)]);
  expect(good).toMatchObject({ code: 0 });
  expect(good.out).toContain("X-EP-Signature-Sha256 fits.");
  const headers = ["webhook-id: 019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10", "webhook-timestamp: 1770105600"];
  const kept = [...headers, `webhook-signature: ${standard}`, `x-ep-signature-sha256: ${ep}`];
  const old = await run([
    ...command,
    ...kept.flatMap((line) => ["--header", line]),
    "--body-file",
    write("body", body),
  ]);
  expect(old).toMatchObject({
    code: 0,
    out: expect.stringContaining("This is expected for a request that you stored"),
  });
  const asked = [...command, "--header", `x-ep-signature-sha256: ${ep}`, "--body-file", write("longer", `${body}\n`)];
  const bad = await run(asked);
  expect(bad.code).toBe(1);
  expect(bad.out).toContain("Verify over the bytes as they came.");
  expect(bad.out + bad.err).not.toContain(secret);
  expect(await run([...asked, "--quiet"])).toMatchObject({ code: 1, out: "body_trimmed\n" });
  expect(JSON.parse((await run([...asked, "--json"])).out)).toMatchObject({ isGood: false, bodyBytes: 118 });
});

test("without a secret, or with a line that is no header, it is wrong usage", async () => {
  const file = write("any", body);
  const unasked = await run(["webhook", "debug-signature", "--body-file", file]);
  expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining("--secret-file") });
  const wrong = await run([...command, "--body-file", file, "--header", "nonsense"]);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("is not a header") });
});
