import { expect, test } from "vitest";
import { options } from "../../src/config/options/index.ts";
import { testDatabase } from "../support/database.ts";

// Who can change an address must not learn what was entered for the one before. Each secret says where it is sent.

/** What nobody could use: hashes of secrets and keys of counters, files, and public keys. */
const noSecrets = new Set([
  "app.secret_hash",
  "app.old_secret_hash",
  "app_logo.bytes",
  "school_logo.bytes",
  "agreement.pdf",
  "import_piece.bytes",
  "user_name.hash",
  "user_name_number.hash",
  "oidc_artifact.id_hash",
  "rate_limit.key",
  "sign_in_brake.key",
  "wrong_password.key",
  "sign_in_place.place",
  "login_card.token_hash",
  "login_card.second_step_hash",
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
  const db = await testDatabase();
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
  OTEL_EXPORTER_OTLP_HEADERS: "OTEL_EXPORTER_OTLP_ENDPOINT, beside it in the environment, read at the same start",
};

test("each secret of the configuration says which address it is for", () => {
  const secret = Object.entries(options).filter(([, option]) => "secret" in option);
  expect(secret.map(([name]) => name).sort()).toEqual(Object.keys(configured).sort());
});
