-- CreateEnum
CREATE TYPE "app_type" AS ENUM ('CONFIDENTIAL', 'PUBLIC');

-- CreateEnum
CREATE TYPE "id_token_algorithm" AS ENUM ('RS256', 'ES256', 'EdDSA');

-- CreateEnum
CREATE TYPE "schulconnex_spelling" AS ENUM ('V1_4', 'V1_7');

-- CreateEnum
CREATE TYPE "sign_on_audience" AS ENUM ('NOBODY', 'EVERYBODY', 'ROLES', 'GROUPS');

-- CreateEnum
CREATE TYPE "person_role" AS ENUM ('STUDENT', 'TEACHER', 'OTHER');

-- CreateEnum
CREATE TYPE "person_status" AS ENUM ('ACTIVE', 'SOFT_DELETED');

-- CreateEnum
CREATE TYPE "group_status" AS ENUM ('ACTIVE', 'DELETED');

-- CreateEnum
CREATE TYPE "group_type" AS ENUM ('KLASSE', 'KURS', 'SONSTIG');

-- CreateEnum
CREATE TYPE "signing_key_state" AS ENUM ('NEXT', 'ACTIVE', 'RETIRED');

-- CreateTable
CREATE TABLE "app" (
    "client_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" "app_type" NOT NULL,
    "secret_hash" BYTEA,
    "pkce_required" BOOLEAN NOT NULL DEFAULT true,
    "redirect_uris" TEXT[],
    "post_logout_redirect_uris" TEXT[],
    "login_url" TEXT,
    "backchannel_logout_uri" TEXT,
    "scopes" TEXT[],
    "id_token_algorithm" "id_token_algorithm" NOT NULL DEFAULT 'RS256',
    "schulconnex_spelling" "schulconnex_spelling" NOT NULL DEFAULT 'V1_4',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "grant" (
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "sign_on_audience" "sign_on_audience" NOT NULL DEFAULT 'NOBODY',
    "sign_on_roles" "person_role"[],
    "sync" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "grant_pkey" PRIMARY KEY ("client_id","school_id")
);

-- CreateTable
CREATE TABLE "synced_group" (
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,

    CONSTRAINT "synced_group_pkey" PRIMARY KEY ("client_id","group_id")
);

-- CreateTable
CREATE TABLE "grant_sign_on_group" (
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "group_id" UUID NOT NULL,

    CONSTRAINT "grant_sign_on_group_pkey" PRIMARY KEY ("client_id","group_id")
);

-- CreateTable
CREATE TABLE "sign_in" (
    "client_id" TEXT NOT NULL,
    "person_id" UUID NOT NULL,
    "first_sign_in_at" TIMESTAMPTZ(3) NOT NULL,
    "last_sign_in_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_pkey" PRIMARY KEY ("client_id","person_id")
);

-- CreateTable
CREATE TABLE "school" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sort_key" TEXT NOT NULL,
    "official_id" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "address_addition" TEXT,
    "city" TEXT NOT NULL,
    "zip_code" TEXT NOT NULL,
    "country" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "schooling_level" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "school_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "person" (
    "id" UUID NOT NULL,
    "home_school_id" UUID NOT NULL,
    "role" "person_role" NOT NULL,
    "status" "person_status" NOT NULL DEFAULT 'ACTIVE',
    "first_full" TEXT,
    "first_call" TEXT,
    "last" TEXT,
    "sort_key" TEXT NOT NULL,
    "source_system_identifier" TEXT,
    "soft_deleted_at" TIMESTAMPTZ(3),
    "purge_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "person_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "affiliation" (
    "id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,

    CONSTRAINT "affiliation_pkey" PRIMARY KEY ("person_id","school_id")
);

-- CreateTable
CREATE TABLE "group" (
    "id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sort_key" TEXT NOT NULL,
    "type" "group_type" NOT NULL,
    "status" "group_status" NOT NULL DEFAULT 'ACTIVE',
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "group_id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "role" "person_role" NOT NULL,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("group_id","person_id")
);

-- CreateTable
CREATE TABLE "audit" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "action" TEXT NOT NULL,
    "actor_id" TEXT,
    "client_id" TEXT,
    "person_id" UUID,
    "school_id" UUID,
    "request_id" TEXT,
    "detail" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "audit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credential" (
    "person_id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "credential_pkey" PRIMARY KEY ("person_id")
);

-- CreateTable
CREATE TABLE "oidc_artifact" (
    "kind" TEXT NOT NULL,
    "id_hash" BYTEA NOT NULL,
    "payload" JSONB NOT NULL,
    "client_id" TEXT,
    "person_id" UUID,
    "grant_id" TEXT,
    "session_uid" TEXT,
    "consumed_at" TIMESTAMPTZ(3),
    "replay" BYTEA,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oidc_artifact_pkey" PRIMARY KEY ("kind","id_hash")
);

-- CreateTable
CREATE TABLE "logout_notice" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "person_id" UUID NOT NULL,
    "sid" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "logout_notice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "consent" (
    "person_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "granted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "consent_pkey" PRIMARY KEY ("person_id","client_id")
);

-- CreateTable
CREATE TABLE "school_choice" (
    "person_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,

    CONSTRAINT "school_choice_pkey" PRIMARY KEY ("person_id","client_id")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "kid" TEXT NOT NULL,
    "algorithm" "id_token_algorithm" NOT NULL,
    "state" "signing_key_state" NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "encrypted_private" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "activated_at" TIMESTAMPTZ(3),
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "shared_secret" (
    "name" TEXT NOT NULL,
    "encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "shared_secret_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "sign_in_brake" (
    "key" BYTEA NOT NULL,
    "failures" INTEGER NOT NULL,
    "wait_until" TIMESTAMPTZ(3) NOT NULL,
    "forget_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_brake_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "sign_in_place" (
    "person_id" UUID NOT NULL,
    "place" BYTEA NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_place_pkey" PRIMARY KEY ("person_id","place")
);

-- CreateIndex
CREATE INDEX "grant_school_id_idx" ON "grant"("school_id");

-- CreateIndex
CREATE INDEX "synced_group_client_id_school_id_group_id_idx" ON "synced_group"("client_id", "school_id", "group_id");

-- CreateIndex
CREATE INDEX "synced_group_group_id_idx" ON "synced_group"("group_id");

-- CreateIndex
CREATE INDEX "grant_sign_on_group_client_id_school_id_group_id_idx" ON "grant_sign_on_group"("client_id", "school_id", "group_id");

-- CreateIndex
CREATE INDEX "grant_sign_on_group_group_id_idx" ON "grant_sign_on_group"("group_id");

-- CreateIndex
CREATE INDEX "sign_in_person_id_idx" ON "sign_in"("person_id");

-- CreateIndex
CREATE UNIQUE INDEX "school_official_id_key" ON "school"("official_id");

-- CreateIndex
CREATE INDEX "school_sort_key_id_idx" ON "school"("sort_key", "id");

-- CreateIndex
CREATE INDEX "person_purge_at_idx" ON "person"("purge_at");

-- CreateIndex
CREATE UNIQUE INDEX "person_home_school_id_source_system_identifier_key" ON "person"("home_school_id", "source_system_identifier");

-- CreateIndex
CREATE UNIQUE INDEX "affiliation_id_key" ON "affiliation"("id");

-- CreateIndex
CREATE INDEX "affiliation_school_id_person_id_idx" ON "affiliation"("school_id", "person_id");

-- CreateIndex
CREATE INDEX "group_school_id_sort_key_id_idx" ON "group"("school_id", "sort_key", "id");

-- CreateIndex
CREATE UNIQUE INDEX "group_id_school_id_key" ON "group"("id", "school_id");

-- CreateIndex
CREATE INDEX "membership_person_id_school_id_group_id_idx" ON "membership"("person_id", "school_id", "group_id");

-- CreateIndex
CREATE INDEX "audit_at_idx" ON "audit"("at");

-- CreateIndex
CREATE INDEX "audit_person_id_at_idx" ON "audit"("person_id", "at");

-- CreateIndex
CREATE INDEX "audit_client_id_at_idx" ON "audit"("client_id", "at");

-- CreateIndex
CREATE INDEX "audit_school_id_at_idx" ON "audit"("school_id", "at");

-- CreateIndex
CREATE UNIQUE INDEX "credential_username_key" ON "credential"("username");

-- CreateIndex
CREATE INDEX "oidc_artifact_expires_at_idx" ON "oidc_artifact"("expires_at");

-- CreateIndex
CREATE INDEX "logout_notice_next_attempt_at_idx" ON "logout_notice"("next_attempt_at");

-- CreateIndex
CREATE INDEX "logout_notice_client_id_idx" ON "logout_notice"("client_id");

-- CreateIndex
CREATE INDEX "consent_client_id_idx" ON "consent"("client_id");

-- CreateIndex
CREATE INDEX "school_choice_person_id_school_id_idx" ON "school_choice"("person_id", "school_id");

-- CreateIndex
CREATE INDEX "school_choice_client_id_idx" ON "school_choice"("client_id");

-- CreateIndex
CREATE INDEX "sign_in_brake_forget_at_idx" ON "sign_in_brake"("forget_at");

-- CreateIndex
CREATE INDEX "sign_in_place_last_used_at_idx" ON "sign_in_place"("last_used_at");

-- AddForeignKey
ALTER TABLE "grant" ADD CONSTRAINT "grant_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grant" ADD CONSTRAINT "grant_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "synced_group" ADD CONSTRAINT "synced_group_client_id_school_id_fkey" FOREIGN KEY ("client_id", "school_id") REFERENCES "grant"("client_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "synced_group" ADD CONSTRAINT "synced_group_group_id_school_id_fkey" FOREIGN KEY ("group_id", "school_id") REFERENCES "group"("id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grant_sign_on_group" ADD CONSTRAINT "grant_sign_on_group_client_id_school_id_fkey" FOREIGN KEY ("client_id", "school_id") REFERENCES "grant"("client_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grant_sign_on_group" ADD CONSTRAINT "grant_sign_on_group_group_id_school_id_fkey" FOREIGN KEY ("group_id", "school_id") REFERENCES "group"("id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in" ADD CONSTRAINT "sign_in_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in" ADD CONSTRAINT "sign_in_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "person" ADD CONSTRAINT "person_home_school_id_fkey" FOREIGN KEY ("home_school_id") REFERENCES "school"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "person" ADD CONSTRAINT "person_home_affiliation_fkey" FOREIGN KEY ("id", "home_school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "affiliation" ADD CONSTRAINT "affiliation_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "affiliation" ADD CONSTRAINT "affiliation_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "group" ADD CONSTRAINT "group_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_group_id_school_id_fkey" FOREIGN KEY ("group_id", "school_id") REFERENCES "group"("id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_person_id_school_id_fkey" FOREIGN KEY ("person_id", "school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credential" ADD CONSTRAINT "credential_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "logout_notice" ADD CONSTRAINT "logout_notice_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "consent" ADD CONSTRAINT "consent_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "consent" ADD CONSTRAINT "consent_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_choice" ADD CONSTRAINT "school_choice_person_id_school_id_fkey" FOREIGN KEY ("person_id", "school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_choice" ADD CONSTRAINT "school_choice_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in_place" ADD CONSTRAINT "sign_in_place_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
