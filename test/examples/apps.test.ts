import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { CursorExpiredError, readAll } from "../../clients/typescript/src/index.ts";
import { makeOperator, runHere } from "../cli/program.ts";
import { demoApp, demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeRunningClock, type TestService } from "../support/service.ts";
import { passPages } from "../support/token.ts";
import { findPort } from "../support/find-port.ts";
import { examples, expectCopy, makeAppClient, startExample } from "./example.ts";

const { clientId, clientSecret } = demoApp("demo-lernapp");
const pupil = "c0000000-0000-4000-8000-000000000002";
const sued = "a0000000-0000-4000-8000-000000000004";
const secrets = ["YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=", "YW5vdGhlciBleGFtcGxlLCBuZXZlciB1c2UgaXQhISE="].map(
  (secret) => `whsec_${secret}`,
);
const folder = mkdtempSync(join(tmpdir(), "examples-"));
let service: TestService;
let ask: ReturnType<typeof makeOperator>["ask"];

beforeAll(async () => {
  atFileEnd(() => rmSync(folder, { recursive: true }));
  // The examples judge tokens and signatures by the real time.
  const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  service = await startDemo({ clock: makeRunningClock(), env });
  ask = makeOperator(runHere({ NODE_ENV: "test", DATABASE_URL: service.db.url, ...env })).ask;
  // What the demo world emits is for nobody.
  await service.runJob("webhooks.fanOut");
});

const credentials = () => ({ issuer: service.url, clientId, clientSecret: clientSecret! });

describe.each(examples)("the example $name", (example) => {
  const file = join(folder, example.name);
  test("passes every check of check-app", async () => {
    const [port, issuerPort] = [await findPort(), await findPort()];
    const app = await startExample(example, port, {
      ISSUER: `http://127.0.0.1:${issuerPort}`,
      CLIENT_ID: "check-app",
      CLIENT_SECRET: "check-app-secret",
      WEBHOOK_SECRETS: secrets.join(" "),
      DATABASE: join(folder, `${example.name}-checked`),
    });
    const { out, err } = await runHere({})([
      ...["check-app", "--port", `${issuerPort}`, "--login-url", `${app.url}/login`],
      ...["--redirect-uri", `${app.url}/callback`, "--webhook-url", `${app.url}/hook`],
      ...["--webhook-new-secret", secrets[1]!],
      ...(example.name === "express" ? ["--erasures"] : []),
    ]);
    await app.stop();
    expect(out, err + app.output()).toMatch(/^[1-9]\d passed, 0 failed, 0 warning, 0 skipped\.$/m);
  });

  test("signs a pupil in and out, keeps its copy by webhooks, and begins again when it was away too long", async () => {
    const port = await findPort();
    const at = (path: string) => `http://127.0.0.1:${port}${path}`;
    const uris = ["--login-url", at("/login"), "--backchannel-logout-uri", at("/backchannel-logout")];
    const back = ["--redirect-uri", at("/callback"), "--post-logout-redirect-uri", at("/")];
    await ask("app", "update", clientId, ...back, ...uris);
    const { id, secret } = await ask<{ id: string; secret: string }>("webhook", "add", clientId, "--url", at("/hook"));
    const settings = {
      ISSUER: service.url,
      CLIENT_ID: clientId,
      CLIENT_SECRET: clientSecret!,
      WEBHOOK_SECRETS: secret,
      DATABASE: file,
    };
    const app = await startExample(example, port, settings);
    const loaded = await expectCopy({ example, file, output: app.output }, credentials());
    expect(loaded.map(({ type }) => type)).toEqual(expect.arrayContaining(["group", "person", "school"]));

    const [browser, platform] = [makeBrowser(app.url), makeBrowser(service.url)];
    const signIn = async () => {
      const asked = await browser.open(`/login?${new URLSearchParams({ iss: service.url }).toString()}`);
      return browser.open((await passPages(platform, await platform.open(asked.url), demoLogin(2))).url);
    };
    expect((await signIn()).html, app.output()).toMatch(/Hello Bo Emil![^]*Klasse 5a/);
    expect((await browser.open("/login?iss=https://other.example")).status).toBe(400);

    // Signing out here ends the session there, and comes back.
    const leaving = await browser.submit(await browser.open("/"), "/logout");
    const left = await platform.submit(await platform.open(leaving.url), "/confirm", { logout: "yes" });
    expect(left.html + left.url).toContain(at("/"));
    expect((await browser.open("/")).html).toContain("Sign in");
    await service.runJob("sign-on.tellLogouts");

    // Signing out there ends the session here.
    expect((await signIn()).html).toContain("Hello Bo Emil!");
    await platform.submit(await platform.open("/oauth2/sessions/logout"), "/confirm", { logout: "yes" });
    await service.runJob("sign-on.tellLogouts");
    expect((await browser.open("/")).html, app.output()).not.toContain("Hello");

    // A change of a person, and a school that switches sync off.
    await ask("person", "update", pupil, "--last", `Muster-${example.name}`);
    await ask("sync", "off", clientId, sued);
    for (const name of ["webhooks.fanOut", "webhooks.deliver"]) await service.runJob(name);
    expect((await expectCopy({ example, file, output: app.output }, credentials())).length).toBeLessThan(loaded.length);
    await app.stop();

    // Longer away than changes are kept.
    const after = await makeAppClient(credentials()).getPosition();
    await ask("webhook", "remove", id, "--yes");
    await ask("sync", "on", clientId, sued);
    await ask("person", "update", pupil, "--last", "Muster");
    service.clock.forwardSeconds(40 * 86_400);
    for (const name of ["webhooks.fanOut", "events.sweep"]) await service.runJob(name);
    service.clock.set(new Date());
    await expect(readAll(makeAppClient(credentials()).listChanges({ after }))).rejects.toThrow(CursorExpiredError);
    const again = await startExample(example, port, settings);
    expect(await expectCopy({ example, file, output: again.output }, credentials())).toEqual(loaded);
    await again.stop();
  });
});
