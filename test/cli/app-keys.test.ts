import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { makeOperator, runHere } from "./program.ts";

const db = await testDatabase();
const run = runHere({ DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const { ask, refusal } = makeOperator(run);

const folder = makeDataDir();
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = (key: KeyObject) => ({ ...key.export({ format: "jwk" }), kid: "2026" });
function writeFile(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}
const keys = writeFile("keys.json", { keys: [jwk(publicKey)] });
const jwksUri = "https://127.0.0.1/jwks.json";

type Shown = { tokenEndpointAuthMethod: string; publicKeys: object[]; jwksUri: string | null };

test("an app that signs is registered with its public keys, moves them to an address, and gets a secret later", async () => {
  const signs = ["--auth-method", "private_key_jwt"];
  const created = await ask("app", "create", "--name", "Signiert", ...signs, "--public-keys", keys);
  const { clientId } = created;
  expect(created).toEqual({ clientId, clientSecret: null });
  expect(await ask<Shown>("app", "show", clientId)).toMatchObject({
    tokenEndpointAuthMethod: "private_key_jwt",
    publicKeys: [jwk(publicKey)],
    jwksUri: null,
  });
  await ask("app", "update", clientId, "--jwks-uri", jwksUri);
  expect(await ask<Shown>("app", "show", clientId)).toMatchObject({ publicKeys: [], jwksUri });
  await ask("app", "update", clientId, "--public-keys", keys);
  expect(await ask<Shown>("app", "show", clientId)).toMatchObject({ publicKeys: [jwk(publicKey)], jwksUri: null });
  await ask("app", "update", clientId, "--auth-method", "client_secret_post");
  expect(await ask("app", "rotate-secret", clientId)).toMatchObject({ clientSecret: expect.any(String) as string });
});

test("keys of a wrong kind and contradictions are refused with the reason", async () => {
  const create = async (...given: string[]) => refusal("app", "create", "--name", "Fehler", ...given);
  const signs = ["--auth-method", "private_key_jwt"];
  expect(await create(...signs, "--public-keys", keys, "--jwks-uri", jwksUri)).toMatchObject({
    exitCode: 2,
    error: "Give --public-keys or --jwks-uri, not both.",
  });
  const pem = writeFile("keys.pem", publicKey.export({ format: "pem", type: "spki" }));
  expect(await create(...signs, "--public-keys", pem)).toMatchObject({
    exitCode: 2,
    error: `${pem} is not a JSON Web Key Set.`,
  });
  const missing = join(folder, "none.json");
  expect(await create(...signs, "--public-keys", missing)).toMatchObject({
    exitCode: 1,
    error: expect.stringContaining(missing) as string,
  });
  expect(await create(...signs, "--public-keys", writeFile("private.json", jwk(privateKey)))).toMatchObject({
    exitCode: 3,
    code: "public_key_refused",
    error: expect.stringContaining("make a new key pair") as string,
  });
  expect(await create(...signs)).toMatchObject({ exitCode: 3, code: "client_authentication" });
  expect(await create("--type", "PUBLIC", "--auth-method", "client_secret_post")).toMatchObject({
    exitCode: 3,
    code: "client_authentication",
  });
  expect(await create(...signs, "--jwks-uri", "https://127.0.0.1/jwks.json#keys")).toMatchObject({
    exitCode: 3,
    code: "uri_refused",
  });
  expect(await create("--auth-method", "client_secret_jwt")).toMatchObject({
    exitCode: 2,
    error: expect.stringContaining("client_secret_basic, client_secret_post, private_key_jwt, none") as string,
  });
});
