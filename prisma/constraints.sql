-- What Prisma cannot say: checks, collations, deferred keys. Part of the migrations.

-- directory
ALTER TABLE "school" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
ALTER TABLE "person" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
ALTER TABLE "group" ALTER COLUMN "sort_key" TYPE text COLLATE "C";

ALTER TABLE "school"
  ADD CONSTRAINT "school_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "school_official_id_check" CHECK ("official_id" ~ '^\S(.*\S)?$' AND char_length("official_id") <= 64),
  ADD CONSTRAINT "school_country_check" CHECK ("country" ~ '^[A-Z]{2}$'),
  ADD CONSTRAINT "school_state_check" CHECK ("state" ~ '^[A-Z0-9]{1,3}$'),
  ADD CONSTRAINT "school_address_addition_check" CHECK ("address_addition" ~ '\S'),
  ADD CONSTRAINT "school_schooling_level_check" CHECK ("schooling_level" ~ '^[A-Z][A-Z0-9_]*$');

ALTER TABLE "person"
  ADD CONSTRAINT "person_name_check" CHECK (num_nulls("first_full", "first_call", "last") IN (0, 3)),
  ADD CONSTRAINT "person_name_length_check" CHECK (
    greatest(char_length("first_full"), char_length("first_call"), char_length("last")) <= 200),
  ADD CONSTRAINT "person_name_filled_check" CHECK ("first_full" ~ '\S' AND "first_call" ~ '\S' AND "last" ~ '\S'),
  ADD CONSTRAINT "person_source_system_identifier_check" CHECK (
    "source_system_identifier" ~ '\S' AND char_length("source_system_identifier") <= 255),
  ADD CONSTRAINT "person_status_check" CHECK (
    CASE "status"
      WHEN 'ACTIVE' THEN num_nonnulls("soft_deleted_at", "purge_at") = 0
      WHEN 'SOFT_DELETED' THEN coalesce("purge_at" >= "soft_deleted_at", false)
    END);

-- A person and their home affiliation are made in one transaction, in whichever order.
ALTER TABLE "person" ALTER CONSTRAINT "person_home_affiliation_fkey" DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE "group"
  ADD CONSTRAINT "group_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "group_status_check" CHECK (("status" = 'DELETED') = ("deleted_at" IS NOT NULL));

-- access
ALTER TABLE "app"
  ADD CONSTRAINT "app_client_id_check" CHECK ("client_id" ~ '^[A-Za-z0-9_-]{1,64}$'),
  ADD CONSTRAINT "app_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "app_secret_check" CHECK (("type" = 'CONFIDENTIAL') = ("secret_hash" IS NOT NULL)),
  ADD CONSTRAINT "app_secret_hash_check" CHECK (octet_length("secret_hash") = 32),
  ADD CONSTRAINT "app_pkce_check" CHECK ("pkce_required" OR "type" = 'CONFIDENTIAL'),
  ADD CONSTRAINT "app_scopes_check" CHECK ("scopes" <@ ARRAY[
    'openid', 'offline_access', 'profile', 'school', 'role', 'groups',
    'schools:read', 'users:read', 'groups:read', 'people:read']),
  ADD CONSTRAINT "app_uris_check" CHECK (
    array_position("redirect_uris", NULL) IS NULL AND array_position("post_logout_redirect_uris", NULL) IS NULL);

-- A list may be empty, never null.
ALTER TABLE "app"
  ALTER COLUMN "redirect_uris" SET NOT NULL,
  ALTER COLUMN "post_logout_redirect_uris" SET NOT NULL,
  ALTER COLUMN "scopes" SET NOT NULL;
ALTER TABLE "grant" ALTER COLUMN "sign_on_roles" SET NOT NULL;
ALTER TABLE "consent" ALTER COLUMN "scopes" SET NOT NULL;

ALTER TABLE "grant" ADD CONSTRAINT "grant_sign_on_roles_check" CHECK (
  ("sign_on_audience" = 'ROLES') = (cardinality("sign_on_roles") > 0));

ALTER TABLE "sign_in" ADD CONSTRAINT "sign_in_order_check" CHECK ("last_sign_in_at" >= "first_sign_in_at");

-- events
ALTER TABLE "audit" ADD CONSTRAINT "audit_action_check" CHECK ("action" ~ '^[a-z]+(_[a-z]+)*$');

-- sign-on
CREATE INDEX "oidc_artifact_grant_id_idx" ON "oidc_artifact" ("grant_id") WHERE "grant_id" IS NOT NULL;
CREATE INDEX "oidc_artifact_session_uid_idx" ON "oidc_artifact" ("session_uid") WHERE "session_uid" IS NOT NULL;
CREATE INDEX "oidc_artifact_person_id_idx" ON "oidc_artifact" ("person_id") WHERE "person_id" IS NOT NULL;
ALTER TABLE "oidc_artifact" ADD CONSTRAINT "oidc_artifact_id_hash_check" CHECK (octet_length("id_hash") = 32);
CREATE UNIQUE INDEX "signing_key_one_active_idx" ON "signing_key" ("algorithm") WHERE "state" = 'ACTIVE';
CREATE UNIQUE INDEX "signing_key_one_next_idx" ON "signing_key" ("algorithm") WHERE "state" = 'NEXT';

-- Folding beyond ASCII differs between servers; the C collation folds the same everywhere.
ALTER TABLE "credential"
  ADD CONSTRAINT "credential_username_check" CHECK (
    "username" = lower("username" COLLATE "C") AND "username" IS NFKC NORMALIZED
    AND "username" ~ '^\S(.*\S)?$' AND char_length("username") <= 255),
  ADD CONSTRAINT "credential_password_hash_check" CHECK ("password_hash" LIKE '$argon2id$%');

ALTER TABLE "signing_key" ADD CONSTRAINT "signing_key_state_check" CHECK (
  CASE "state"
    WHEN 'NEXT' THEN num_nonnulls("activated_at", "retired_at") = 0
    WHEN 'ACTIVE' THEN "activated_at" IS NOT NULL AND "retired_at" IS NULL
    WHEN 'RETIRED' THEN "retired_at" IS NOT NULL
  END);

-- Storage: rows that are marked after they were written find room on their page; what expires in masses is cleaned early.
ALTER TABLE "sign_in" SET (fillfactor = 80);
ALTER TABLE "oidc_artifact" SET (
  fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
