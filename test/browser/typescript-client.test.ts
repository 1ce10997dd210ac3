import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeHeaders, readSecret } from "../../src/webhooks/signature.ts";
import { startDemo } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { startReceiver } from "../support/receiver.ts";
import { installClient, readSnippets } from "../support/typescript-client.ts";
import { useBrowser } from "./support/browser.ts";

// The package for partners as it is packed, imported by a page without a bundler.

const { newPage } = useBrowser();
const app = mkdtempSync(join(tmpdir(), "typescript-client-"));
const imports = {
  "@schultor/client": "/@schultor/client/dist/index.js",
  "openapi-fetch": "/@schultor/client/node_modules/openapi-fetch/dist/index.mjs",
};
const html = `<link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>`;
const files = await startReceiver((call, response) => {
  const path = normalize(call.path);
  if (path.endsWith("js"))
    response.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(join(app, "node_modules", path)));
  else response.writeHead(200, { "Content-Type": "text/html" }).end(html);
});
const origin = files.url;
let url: string;

beforeAll(async () => {
  atFileEnd(() => rmSync(app, { recursive: true }));
  ({ url } = await startDemo());
  await installClient(app);
});

test("the package gets a token, reads lists and verifies webhooks in Chromium", async () => {
  const page = await newPage();
  // The service gives no page the tokens of an app with a secret, so the page's own server asks for them.
  await page.route(/\/(oauth2|idm)\//, async (route, request) => {
    const { origin: _, ...headers } = await request.allHeaders();
    await route.fulfill({ response: await route.fetch({ url: request.url().replace(origin, url), headers }) });
  });
  await page.goto(origin);
  const options = /createClient\(([^]*)\)/.exec(
    readSnippets(origin).find(({ name }) => name === "client.ts")!.text,
  )![1]!;
  const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
  const body = '{"event":"person","action":"create","personId":"c0000000-0000-4000-8000-000000000002"}';
  const headers = makeHeaders(
    { messageId: "an-id", eventType: "person", isTest: false, body },
    [readSecret(secret)],
    new Date(),
  );
  const found = await page.evaluate(`(async () => {
    const { createClient, readAll, verifyWebhook } = await import("@schultor/client");
    const client = createClient(${options});
    const schools = await readAll(client.listSchools());
    const people = await readAll(client.listSchoolPeople(schools[1].id, { limit: 2 }));
    const headers = new Headers(${JSON.stringify(headers)});
    const verify = (text) => verifyWebhook(new TextEncoder().encode(text), headers, "${secret}");
    const { event } = await verify(${JSON.stringify(body)});
    const refused = await verify("{}").catch(({ code }) => code);
    return { schools: schools.map(({ name }) => name), people: people.length > 2, event, refused };
  })()`);
  const schools = ["Förderzentrum Süd", "Goethe-Gymnasium Musterstadt"];
  expect(found).toEqual({ schools, people: true, event: JSON.parse(body), refused: "wrong_signature" });
});
