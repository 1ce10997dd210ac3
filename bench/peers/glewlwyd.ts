import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { findPort } from "../../test/support/find-port.ts";
import type { Side } from "../sign-on.ts";
import {
  cookiesOf,
  makeKey,
  Missing,
  type Peer,
  peerApp,
  peerPassword,
  type Place,
  scope,
  type Start,
  startProgram,
} from "./peer.ts";

const program = "/usr/bin/glewlwyd";
const scripts = "/usr/share/dbconfig-common/data/glewlwyd/install";
// Without g_continue the first answer is the page on which a person with several sessions chooses one.
const endpoints = { authorization: "/api/oidc/auth?g_continue=", token: "/api/oidc/token" };
const scopes = ["openid", "profile", scope];

/** The tables and the first administrator, with the scripts of the package. */
async function fillDatabase(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query("CREATE EXTENSION pgcrypto");
    for (const script of ["pgsql", "postgre.default.sql"])
      await client.query(readFileSync(join(scripts, script), "utf8"));
    await client.query(
      `INSERT INTO g_scope (gs_name, gs_display_name, gs_password_required) SELECT name, name, 0 FROM unnest($1::text[]) AS name`,
      [scopes.slice(1)],
    );
  } finally {
    await client.end();
  }
}

const configurationOf = (url: string, databaseUrl: string) => `
port = ${new URL(url).port}
bind_address = "127.0.0.1"
external_url = "${url}"
login_url = "login.html"
api_prefix = "api"
log_mode = "console"
log_level = "ERROR"
cookie_secure = 0
session_expiration = 2419200
session_key = "GLEWLWYD2_SESSION_ID"
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "/usr/lib/glewlwyd/user"
client_module_path = "/usr/lib/glewlwyd/client"
user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
plugin_module_path = "/usr/lib/glewlwyd/plugin"
hash_algorithm = "SHA512"
database = { type = "postgre" conninfo = "${databaseUrl}" }
`;

function makeCaller(url: string) {
  return async (cookie: string, method: string, path: string, body: object): Promise<Response> => {
    const headers = { "content-type": "application/json", cookie };
    const response = await fetch(`${url}/api/${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status} ${await response.text()}`);
    return response;
  };
}

/** Its pages and endpoints of OpenID Connect. */
const issuerOf = (url: string) => `${url}/api/oidc`;

const pluginOf = (url: string) => {
  const { privateKey, publicKey } = makeKey();
  return {
    module: "oidc",
    name: "oidc",
    display_name: "OpenID Connect",
    parameters: {
      iss: issuerOf(url),
      "jwt-type": "rsa",
      "jwt-key-size": "256",
      key: privateKey,
      cert: publicKey,
      "jwks-show": true,
      "access-token-duration": 3600,
      "refresh-token-duration": 1209600,
      "code-duration": 600,
      "refresh-token-rolling": true,
      "allow-non-oidc": true,
      "auth-type-code-enabled": true,
      "auth-type-client-enabled": true,
      "auth-type-refresh-enabled": true,
      "name-claim": "mandatory",
      "name-claim-scope": ["profile"],
      "pkce-allowed": true,
      "pkce-method-plain-allowed": false,
    },
  };
};

const client = {
  client_id: peerApp.clientId,
  name: "Bench",
  client_secret: peerApp.clientSecret,
  confidential: true,
  enabled: true,
  scope: [scope],
  redirect_uri: [peerApp.redirectUri],
  authorization_type: ["code", "client_credentials"],
  token_endpoint_auth_method: ["client_secret_basic"],
};

type Client = Partial<typeof client>;
export type GlewlwydUser = { username: string; name?: string };

/**
 * Starts it with one client.
 *
 * Shape:  `signUp` makes a person who agrees to the client, and returns the cookies of their session.
 * Errors: `Missing` where it is not installed.
 */
export async function openGlewlwyd(
  { databaseUrl, folder }: Pick<Place, "databaseUrl" | "folder">,
  changed: Client = {},
): Promise<
  Pick<Peer, "cpuMs" | "stop"> & { url: string; issuer: string; signUp(user: GlewlwydUser): Promise<string> }
> {
  if (!existsSync(program)) throw new Missing("Debian's package glewlwyd is needed.");
  await fillDatabase(databaseUrl);
  const url = `http://127.0.0.1:${await findPort()}`;
  const configuration = join(folder, "glewlwyd.conf");
  await writeFile(configuration, configurationOf(url, databaseUrl));
  const running = await startProgram({ program, args: ["--config-file", configuration], cwd: folder, url });

  const call = makeCaller(url);
  const signIn = async (username: string, password: string) =>
    cookiesOf(await call("", "POST", "auth", { username, password }));
  // The password of the package's first administrator.
  const admin = await signIn("admin", "password");
  await call(admin, "POST", "mod/plugin/", pluginOf(url));
  await call(admin, "POST", "client/", { ...client, ...changed });
  return {
    ...running,
    url,
    issuer: issuerOf(url),
    async signUp(user) {
      const scope = ["g_profile", ...scopes];
      await call(admin, "POST", "user/", { ...user, password: peerPassword, enabled: true, scope });
      const cookies = await signIn(user.username, peerPassword);
      await call(cookies, "PUT", `auth/grant/${peerApp.clientId}/`, { scope: "openid profile" });
      return cookies;
    },
  };
}

export const startGlewlwyd: Start = async ({ people, ...place }) => {
  const { url, signUp, ...running } = await openGlewlwyd(place);
  const machine = { url, app: peerApp, endpoints };
  // One after another: it makes the scope of a user twice otherwise, and fails.
  const sides: Side[] = [];
  for (let number = 0; number < people; number++)
    sides.push({ ...machine, cookies: await signUp({ username: `person${number}` }) });
  return { ...running, sides, machine };
};
