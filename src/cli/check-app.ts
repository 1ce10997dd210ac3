import type { Authentication } from "../../clients/tools/src/check-app/index.ts";
import { makeOwnCommand } from "./command.ts";
import { option, UsageError } from "./option.ts";
import { readKeyFile } from "./files.ts";

const defaults = {
  port: 4499,
  clientId: "check-app",
  clientSecret: "check-app-secret",
  // The secret of the example in openapi/webhooks.yaml.
  webhookSecret: "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=",
  docs: "http://localhost:3000/docs",
};

function readUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`'${text}' is no address such as https://app.example/login.`);
}

function readSecret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]+=*$/.test(text)) return text;
  throw new UsageError("a secret begins with whsec_, and base64 follows.");
}

const url = (meaning: string) => option.checked(meaning, "url", readUrl);
const secret = (meaning: string) => option.checked(meaning, "secret", readSecret);

const methods = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"] as const;

type AuthenticationOptions = {
  authMethod?: (typeof methods)[number] | undefined;
  clientSecret?: string | undefined;
  publicKeys?: string | undefined;
  jwksUri?: string | undefined;
};

async function readAuthentication(options: AuthenticationOptions): Promise<Authentication> {
  const { authMethod: method = "client_secret_basic", clientSecret, publicKeys, jwksUri } = options;
  const hasSecret = method.startsWith("client_secret_");
  if (!hasSecret && clientSecret !== undefined)
    throw new UsageError(`${method} has no secret: leave out --client-secret.`);
  if (method === "none") return { method };
  if (method !== "private_key_jwt") return { method, clientSecret: clientSecret ?? defaults.clientSecret };
  if ((publicKeys === undefined) === (jwksUri === undefined))
    throw new UsageError("private_key_jwt needs --public-keys or --jwks-uri.");
  const { createLocalJWKSet, createRemoteJWKSet } = await import("jose");
  if (jwksUri !== undefined) return { method, keys: createRemoteJWKSet(new URL(jwksUri)) };
  return { method, keys: createLocalJWKSet({ keys: await readKeyFile(publicKeys!) }) };
}

export const checkApp = makeOwnCommand({
  summary:
    "Check an app that runs on this machine: play the service against its Login URL and its webhook address, and report what to mend. Ends with 1 where a check fails.",
  options: {
    loginUrl: url("The Login URL of the app."),
    redirectUri: url("The redirect URI as it is registered; needed with --login-url."),
    port: option.count(
      `Where the issuer of the check listens; ${defaults.port} if left out. Set the app's issuer to http://127.0.0.1:${defaults.port}.`,
    ),
    clientId: option.text(`The client id that the app has; ${defaults.clientId} if left out.`, "client-id"),
    authMethod: option.oneOf(
      methods,
      "How the app authenticates, as in its registration; client_secret_basic if left out.",
    ),
    clientSecret: option.text(
      `The secret that the app has for the check, never a real one; ${defaults.clientSecret} if left out.`,
    ),
    publicKeys: option.text("A file with the app's public keys, a JSON Web Key Set, for private_key_jwt.", "file"),
    jwksUri: url("Where the app publishes its key set, in place of a file."),
    sessionUrl: url(
      "A page that only somebody who is signed in sees; by default the page at the end of a sign-on tells.",
    ),
    wait: option.duration("Wait so long for the app to read the issuer's addresses, where it does so at its start."),
    webhookUrl: url("The webhook address of the app."),
    webhookSecret: secret("Its secret for the check; that of the example in /docs/webhooks if left out."),
    erasures: option.flag("The app confirms erasures: ask it to erase somebody. Needs --webhook-url."),
    oneroster: option.duration(
      "The app reads OneRoster: wait so long for it to begin. Let it read the roster twice, when the command says so.",
    ),
    webhookNewSecret: secret("A second secret that the app has, to try a replacement."),
    docs: url(`Where the documentation is; ${defaults.docs} if left out.`),
    junit: option.text("Write a report for build servers (JUnit) to this file too.", "path"),
  },
  run: async ({ tell }, { options }) => {
    const { loginUrl, redirectUri, sessionUrl, webhookUrl } = options;
    const { oneroster, port = defaults.port, clientId = defaults.clientId, docs = defaults.docs } = options;
    if (loginUrl === undefined && webhookUrl === undefined && oneroster === undefined)
      throw new UsageError("Give --login-url, --webhook-url or --oneroster, or several of them.");
    if (loginUrl !== undefined && redirectUri === undefined) throw new UsageError("--redirect-uri is missing.");
    const hasErasures = options.erasures;
    if (hasErasures && webhookUrl === undefined) throw new UsageError("--erasures needs --webhook-url.");
    if (port > 65_535) throw new UsageError("--port is at most 65535.");
    const isClient = loginUrl !== undefined || oneroster !== undefined;
    const authentication = isClient ? await readAuthentication(options) : { method: "none" as const };
    if (oneroster !== undefined && authentication.method === "none")
      throw new UsageError("An app without a secret or keys of its own cannot read OneRoster.");
    const oneRoster = oneroster === undefined ? null : { authentication, waitSeconds: oneroster };
    const signOn = loginUrl === undefined ? null : { loginUrl, redirectUri: redirectUri!, sessionUrl, authentication };
    const { webhookSecret: secretOfCheck = defaults.webhookSecret, webhookNewSecret: newSecret } = options;
    const webhook = webhookUrl === undefined ? null : { url: webhookUrl, secret: secretOfCheck, newSecret };
    const { checkApp: check } = await import("../../clients/tools/src/check-app/index.ts");
    const issuer = { port, clientId, waitSeconds: options.wait ?? 0 };
    return check({
      issuer,
      signOn,
      webhook,
      hasErasures,
      oneRoster,
      docs: docs.replace(/\/+$/, ""),
      junit: options.junit,
      tell,
    });
  },
});
