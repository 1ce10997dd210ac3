import { expect, test } from "vitest";
import { checkCalledUri, findApp } from "../../src/access/index.ts";
import type { Lookup } from "../../src/platform/outbound/guarded-request.ts";
import { makeOperator, runHere } from "../cli/program.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
const { ask, refusal } = makeOperator(runHere({ NODE_ENV: "test", DATABASE_URL: db.url }));
const uriRefused = { exitCode: 3, code: "uri_refused" };

const targets = [
  ...["https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://0x7f.1/x", "https://2130706433/x"],
  ...["https://169.254.169.254/x", "https://168.63.129.16/x", "https://[::ffff:10.0.0.1]/x"],
  ...[
    "https://[64:ff9b::a9fe:a9fe]/x",
    "https://[2002:7f00:1::]/x",
    "https://[4000::1]/x",
    "https://[fd00:ec2::254]/x",
  ],
];

test("an address inside the network is registered neither for webhooks nor for logouts", async () => {
  const { clientId } = await ask("app", "create", "--name", "Lernapp");
  const logout = (target: string) => ["--backchannel-logout-uri", target];
  for (const target of targets) {
    const refused = { exitCode: 3, code: "webhook_url_refused" };
    expect(await refusal("webhook", "add", clientId, "--url", target), target).toMatchObject(refused);
    expect(await refusal("app", "update", clientId, ...logout(target)), target).toMatchObject(uriRefused);
    expect(await refusal("app", "create", "--name", "Neu", ...logout(target)), target).toMatchObject(uriRefused);
  }
  expect((await findApp(db.pool, clientId))!.backchannelLogoutUri).toBeNull();
});

test("an address for logouts follows the rules of every registered address too", async () => {
  const env = { NODE_ENV: "test", DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" };
  const allowed = makeOperator(runHere(env));
  const { clientId } = await ask("app", "create", "--name", "Rechenapp");
  const update = (uri: string) => allowed.refusal("app", "update", clientId, "--backchannel-logout-uri", uri);
  const refused = ["http://10.0.0.1/x", "https://user:secret@127.0.0.1/", "https://127.0.0.1/#x", "ftp://127.0.0.1/"];
  for (const uri of [...refused, "https://127.0.0.1/\u001b[2J"])
    expect(await update(uri), uri).toMatchObject(uriRefused);
  expect(await update("x")).toMatchObject({ exitCode: 3, code: "invalid_request" });
  await allowed.ask("app", "update", clientId, "--backchannel-logout-uri", "http://127.0.0.1:4999/logout");
  expect((await findApp(db.pool, clientId))!.backchannelLogoutUri).toBe("http://127.0.0.1:4999/logout");
});

test("a name with one address inside the network beside public ones is refused", async () => {
  const lookup: Lookup = (_name, _options, callback) =>
    callback(null, [
      { address: "193.99.144.80", family: 4 },
      { address: "::ffff:10.0.0.1", family: 6 },
    ]);
  await expect(checkCalledUri("https://app.example/", { allowPrivateAddresses: false, lookup })).rejects.toMatchObject({
    kind: "invalid",
    code: "uri_refused",
  });
});
