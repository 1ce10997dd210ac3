import { expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { makePortalUser } from "../support/portal.ts";
import { startReceiver } from "../support/receiver.ts";
import { confirmPath, readRecoveryCodes, setUpTotp } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { basic, exchange, getAppToken, giveLogin, postToken, signOn } from "../support/token.ts";
import { verify } from "../support/webhooks.ts";
import { options } from "../../src/config/options/index.ts";

/** A secret in the spellings in which it could lie somewhere. */
function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 within something longer begins at one of three places.
  const inside = (["base64", "base64url"] as const).flatMap((alphabet) =>
    [0, 1, 2].map((pad) =>
      Buffer.concat([Buffer.alloc(pad), bytes])
        .toString(alphabet)
        .slice(Math.ceil((pad * 4) / 3) + 1, -4),
    ),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), bytes.toString("base64url"), ...inside].filter(
    (text) => text.length >= 6,
  );
}

const lines: string[] = [];
const log = makeLog({ level: "trace", format: "json", to: { write: (line: string) => void lines.push(line) } });
hashAllQuickly();
const service = await startService({ log, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { db, clock } = service;
const make = makeMakers(db);
/** What whoever has it could use, by what it is. */
const seen: Record<string, string> = {};

function seeCookies(whose: string, browser: Browser): void {
  for (const { name, value } of browser.cookies()) if (value.length > 20) seen[`cookie ${name} of ${whose}`] = value;
}

async function readTables(): Promise<string[]> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  expect(tables.length).toBeGreaterThan(40);
  const dump: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.pool.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" AS t`);
    dump.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return dump;
}

/** What was seen so far and lies in a table or in the log, in any spelling. */
async function findSeen(): Promise<string[]> {
  expect(Object.values(seen).every((value) => value.length >= 6)).toBe(true);
  // Binary columns are hexadecimal in the text of a row: a secret as it is would be found there too.
  const everything = { tables: (await readTables()).join("\n").toLowerCase(), log: lines.join("\n").toLowerCase() };
  return Object.entries(seen).flatMap(([what, value]) =>
    Object.entries(everything)
      .filter(([, text]) => spellingsOf(value).some((spelling) => text.includes(spelling.toLowerCase())))
      .map(([where]) => `${what} in ${where}`),
  );
}

test("after sign-on, refresh, second factor, webhooks and calls, no table and no log line holds a secret that is good for anything", async () => {
  const [school, app, spa] = [await make.school(), await make.app(), await make.app({ type: "PUBLIC" })];
  for (const { clientId } of [app, spa]) await make.grant({ app: clientId, school });
  const login = await giveLogin(db, await make.person({ school }));
  Object.assign(seen, { password: login.password, clientSecret: app.clientSecret! });

  for (const [kind, client] of Object.entries({ app, spa })) {
    const signedOn = await signOn(service, client, login, { scopes: ["openid", "offline_access", "people:read"] });
    const { body } = await exchange(service, client, signedOn);
    await exchange(service, client, await signOn(service, client, login, { browser: signedOn.browser }));
    const fields = { grant_type: "refresh_token", refresh_token: body.refresh_token! };
    const refreshed = (await postToken(service, client, fields)).body;
    await fetch(`${service.url}/oauth2/userinfo`, { headers: { authorization: `Bearer ${refreshed.access_token}` } });
    Object.assign(seen, {
      [`${kind} code`]: signedOn.back.searchParams.get("code")!,
      [`${kind} verifier`]: signedOn.asked.verifier,
      [`${kind} access token`]: body.access_token,
      [`${kind} ID token`]: body.id_token!,
      [`${kind} refresh token`]: body.refresh_token!,
      [`${kind} refreshed access token`]: refreshed.access_token,
      [`${kind} refreshed refresh token`]: refreshed.refresh_token!,
    });
    seeCookies(kind, signedOn.browser);
  }
  const half = await signOn(service, app, login);
  seen["unused code"] = half.back.searchParams.get("code")!;
  seen["app token"] = await getAppToken(service, app, ["schools:read"]);
  seen["basic"] = basic(app)["authorization"]!.slice("Basic ".length);

  const user = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { secret, shown } = await setUpTotp(user.browser, clock);
  seen["staff password"] = user.password;
  seen["TOTP secret"] = secret.replaceAll(" ", "");
  for (const [index, code] of readRecoveryCodes(shown).entries()) seen[`recovery code ${index}`] = code;
  await user.browser.open("/admin/schools");
  const later = makeBrowser(service.url);
  const asking = await later.submit(await later.open("/sign-in"), "/sign-in", {
    username: user.username,
    password: user.password,
  });
  seeCookies("staff between two factors", later);
  const inside = await later.submit(asking, confirmPath, { code: seen["recovery code 0"]! });
  expect(inside.status).toBe(200);
  seeCookies("staff with a recovery code", later);

  const { app: robot, call } = await makeStaff(service, "OPERATOR");
  seen["operator secret"] = robot.clientSecret!;
  await call("GET", "/schools");
  expect(readRecoveryCodes(shown).length).toBeGreaterThan(5);
  expect(Object.values(seen).every((value) => value.length >= 6)).toBe(true);

  seeCookies("staff", user.browser);
  expect(await findSeen()).toEqual([]);
  expect(lines.length).toBeGreaterThan(30);
  // What is searched for is found where it does lie: the user name is in its table.
  seen["user name"] = login.username;
  expect(await findSeen()).toEqual(["user name in tables"]);
  delete seen["user name"];
});

type Schemas = components["schemas"];

test("after first passwords, login cards, a recovery code, a delivered webhook and an import, neither does one", async () => {
  const school = await make.school();
  const group = await make.group({ school });
  const [first, second] = [
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
  ];
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const headers = { "idempotency-key": "once" };
  const logins = await call("POST", `/groups/${group}/logins`, { body: { onlyMissing: true }, headers });
  for (const { personId, password } of logins.body as Schemas["NamedLoginSecret"][])
    seen[`first password of ${personId}`] = password;

  const settings = {
    enabled: true,
    grades: null,
    hours: null,
    networks: [],
    secondStep: "NONE",
    printSecondStep: false,
  };
  await call("PUT", `/schools/${school}/card-settings`, { body: settings });
  const body = { personIds: [first, second], newPasswords: true, withQr: true };
  const made = await call("POST", `/schools/${school}/login-cards`, { body, headers: { "idempotency-key": "cards" } });
  const { cards } = made.body as Schemas["MadeLoginCards"];
  expect([logins.status, cards.length]).toEqual([200, 2]);
  for (const { personId, url, password } of cards) {
    seen[`card of ${personId}`] = url!.slice(-24);
    seen[`password on the card of ${personId}`] = password!;
  }
  const pupil = makeBrowser(service.url);
  await pupil.once(cards[0]!.url!);
  seeCookies("who opened the card", pupil);
  await pupil.submit(await pupil.open("/card"), "/card");
  seeCookies("who signed in by card", pupil);

  const receiver = await startReceiver();
  const operator = await makeStaff(service, "OPERATOR");
  const operatorToken = await getAppToken(service, operator.app, ["admin:read", "admin:write"]);
  seen["operator token"] = operatorToken;
  const { clientId } = await make.app();
  const hook = { clientId, url: receiver.url, eventTypes: ["person"] };
  const sent = await operator.call("POST", "/webhook-endpoints", {
    body: hook,
    headers: { "idempotency-key": "hook" },
  });
  const { id, secret } = sent.body as Schemas["EndpointSecret"];
  await operator.call("POST", `/webhook-endpoints/${id}/test`);
  await service.runJob("webhooks.deliver");
  expect(verify(receiver.received[0]!, secret)).toMatchObject({ standard: true });
  seen["webhook secret of a delivery"] = secret;
  seen["signature of a delivery"] = String(receiver.received[0]!.headers["webhook-signature"]).slice(3);

  const file =
    "id;role;first_name;last_name;classes;password\n1;student;Ada;Muster;5a;password-of-the-file\n2;student\n";
  seen["password in a file"] = "password-of-the-file";
  const handedIn = await fetch(`${service.url}/admin/v1/imports?school=${school}`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/octet-stream" },
    body: file,
  });
  expect(handedIn.status).toBe(201);
  expect(await findSeen()).toEqual([]);
});

// Who can change an address must not learn what was entered for the one before. Each secret says where it is sent.

/** What nobody could use: hashes of secrets and keys of counters, files, and public keys. */
const noSecrets = new Set([
  "app.secret_hash",
  "app.old_secret_hash",
  "app_logo.bytes",
  "school_logo.bytes",
  "agreement.pdf",
  "import_piece.bytes",
  "roster_connection.digest",
  "user_name.hash",
  "user_name_number.hash",
  "oidc_artifact.id_hash",
  "rate_limit.key",
  "sign_in_brake.key",
  "wrong_password.key",
  "sign_in_place.place",
  "login_card.token_hash",
  "login_card.second_step_hash",
  "picture_code.hash",
  "class_list.code_hash",
  "recovery_code.hash",
  "second_factor.public_key",
  "idempotency_key.request_hash",
  "upstream_refusal.subject_hash",
  "upstream_round_trip.state_hash",
  "upstream_round_trip.browser_hash",
  "upstream_set_up_link.token_hash",
  "upstream_set_up_link.browser_hash",
  "webhook_attempt.answer",
]);

/** Secrets in the database: the address that each is bound to and what holds it, or why none gets it. */
const boundTo: Readonly<Record<string, { address: string; heldBy: string } | { never: string }>> = {
  "upstream_connection.client_secret": {
    address: "the token endpoint on the host of the issuer, or on the one that it named when the secret was typed",
    heldBy: "test/upstream/set-up.test.ts, test/upstream/failures.test.ts, upstream-set-up.test.ts",
  },
  "upstream_session.id_token": {
    address: "the end-session endpoint of the issuer that signed it: another issuer ends the session",
    heldBy: "test/upstream/sessions.test.ts",
  },
  "upstream_round_trip.details": {
    address:
      "verifier and nonce, for the issuer of this round trip: another issuer, tenant or account claim deletes it",
    heldBy: "test/upstream/linking.test.ts",
  },
  "roster_connection.secret": {
    address: "the addresses in the settings, which it is sealed for: a change of one asks for the secret again",
    heldBy: "test/security/roster-connections.test.ts",
  },
  "webhook_secret.sealed": {
    never:
      "signs deliveries to the endpoint; another address gets signatures of its own deliveries, and not the secret",
  },
  "signing_key.encrypted_private": { never: "signs tokens, each for the app that its audience names" },
  "shared_secret.encrypted": { never: "keys of cookies and links of this service" },
  "user_name_key.key": { never: "key of hashes" },
  "second_factor.secret": { never: "compared with what a person types" },
  "oidc_artifact.replay": { never: "the answer to one code, for the app that sends the code and its secret again" },
  "idempotency_key.answer": { never: "the answer to a request, for the caller who sends the same request again" },
  "credential_batch.encrypted": { never: "a document for the person who asked for it" },
  "credential_batch_person.encrypted": { never: "a part of that document" },
  "card_print.encrypted": { never: "a document for the person who asked for it" },
  "upstream_refusal.details": { never: "claims, for the staff of the school" },
  "upstream_recent_sign_in.claims": { never: "claims, to try a rule on" },
  "upstream_set_up_link.tested": { never: "claims, for the browser that opened the link" },
};

/** Columns of text with such names hold no secret: settings, hashes, and names of keys. */
const namedLikeSecrets = new Set([
  "app.token_endpoint_auth_method",
  "app.id_token_algorithm",
  "app.public_keys",
  "credential.password_hash",
  "credential_batch.handed_out_key",
  "group.natural_key",
  "idempotency_key.key",
  "school_sign_in.password_kind",
  "upstream_connection.keys",
  "upstream_connection.token_endpoint_auth_method",
]);

test("each column that holds a secret says which address it is for, or why it is sent to none", async () => {
  const { rows } = await db.pool.query<{ name: string; isBinary: boolean }>(`
    SELECT c.table_name || '.' || c.column_name AS name, c.data_type = 'bytea' AS "isBinary"
    FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND t.table_name NOT LIKE 'audit\\_%'
      AND (c.data_type = 'bytea' OR c.data_type NOT IN ('boolean', 'integer', 'timestamp with time zone')
        AND c.column_name ~ '(secret|token|password|(^|_)keys?$)')`);
  const of = (isBinary: boolean) => rows.filter((row) => row.isBinary === isBinary).map(({ name }) => name);
  expect(of(true).sort()).toEqual([...noSecrets, ...Object.keys(boundTo)].sort());
  expect(
    of(false)
      .filter((name) => !name.endsWith(".sort_key") && !name.endsWith("school_sort_key"))
      .sort(),
  ).toEqual([...namedLikeSecrets].sort());
});

/** Secrets of the configuration: the operator writes them beside the address, or they are sent nowhere. */
const configured: Readonly<Record<string, string>> = {
  DATABASE_URL: "is the address itself",
  DATABASE_REPLICA_URL: "is the address itself",
  ENCRYPTION_KEYS: "sent nowhere",
  METRICS_TOKEN: "compared with what a caller sends",
  SMTP_URL: "is the address itself",
  OTEL_EXPORTER_OTLP_HEADERS: "OTEL_EXPORTER_OTLP_ENDPOINT, beside it in the environment, read at the same start",
};

test("each secret of the configuration says which address it is for", () => {
  const secret = Object.entries(options).filter(([, option]) => "secret" in option);
  expect(secret.map(([name]) => name).sort()).toEqual(Object.keys(configured).sort());
});
