import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { useBrowser } from "./support/browser.ts";
import { people, startDemoService, type DemoService } from "./support/demo-service.ts";
import { expectHeading, logIn, press } from "./support/steps.ts";

type Posted = Pick<IncomingMessage, "method" | "headers"> & { fields: Record<string, string> };

const { newPage } = useBrowser();
let service: DemoService;
let redirectUri: string;
let posted: Posted[];

/** An app whose redirect URI goes on to another origin of the app, once it has read the code. */
async function startPostedApp(): Promise<string> {
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      if (req.url !== "/callback") return res.setHeader("Content-Type", "text/html").end("<title>app</title>Signed in");
      const { method, headers } = req;
      posted.push({ method, headers, fields: Object.fromEntries(new URLSearchParams(body)) });
      return res.writeHead(303, { Location: home() }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/callback`;
}

beforeAll(async () => {
  service = await startDemoService();
  redirectUri = await startPostedApp();
  await service.db.pool.query("UPDATE app SET redirect_uris = $1 WHERE client_id = 'demo-lernapp'", [[redirectUri]]);
});
beforeEach(async () => {
  posted = [];
  await service.db.pool.query("DELETE FROM consent");
});

const address = (wishes: Record<string, string> = {}) =>
  service.authorizationUrl({ redirect_uri: redirectUri, response_mode: "form_post", ...wishes });
/** Of the same server, under another name. */
const home = () => new URL("/home", redirectUri.replace("localhost", "127.0.0.1")).href;
const answer = () => ({ code: expect.any(String) as string, state: "state-of-the-app", iss: service.url });

/** The address that the browser sends along names the service and nothing of the sign-on. */
function expectPosted(fields: object): void {
  expect(posted).toMatchObject([{ method: "POST", fields }]);
  const { origin, referer, "content-type": type } = posted[0]!.headers;
  expect([origin, referer, type]).toEqual([service.url, `${service.url}/`, "application/x-www-form-urlencoded"]);
}

test("a pupil signs in, and the app receives the form without another click", async () => {
  const page = await newPage();
  await page.goto(address());
  await logIn(page, people.student);
  await press(page, "Ja, erlauben");
  await page.waitForURL(home());
  expectPosted(answer());

  // Signed in already, the person sees no page in between: the form may be on its way before its page is loaded.
  await page.goto(address(), { waitUntil: "commit" });
  await page.waitForURL(home());
  expect(posted[1]!.fields["code"]).not.toBe(posted[0]!.fields["code"]);
});

test("without JavaScript the person presses a button", async () => {
  const page = await newPage({ javaScript: false, size: "phone" });
  await page.goto(address());
  await logIn(page, people.student);
  await press(page, "Ja, erlauben");
  await expectHeading(page, "Es geht weiter zu Lernapp");
  expect(posted).toEqual([]);
  await press(page, "Weiter");
  await page.waitForURL(home());
  expectPosted(answer());
});
