-- CreateEnum
CREATE TYPE "upstream_profile" AS ENUM ('ISERV', 'ENTRA', 'GOOGLE', 'OIDC');

-- CreateEnum
CREATE TYPE "upstream_state" AS ENUM ('DRAFT', 'ON', 'OFF');

-- CreateEnum
CREATE TYPE "upstream_rule_field" AS ENUM ('SOURCE_SYSTEM_IDENTIFIER', 'USERNAME', 'PERSON_ID');

-- CreateEnum
CREATE TYPE "upstream_normalisation" AS ENUM ('TRIM', 'LOWER_CASE', 'WITHOUT_LEADING_ZEROS', 'WITHOUT_DOMAIN');

-- CreateEnum
CREATE TYPE "upstream_linked_by" AS ENUM ('RULE', 'STAFF');

-- CreateEnum
CREATE TYPE "upstream_purpose" AS ENUM ('SIGN_IN', 'SILENT', 'TEST');

-- AlterTable
ALTER TABLE "oidc_artifact" ADD COLUMN     "upstream_session_id" UUID;

-- CreateTable
CREATE TABLE "upstream_connection" (
    "id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "profile" "upstream_profile" NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT,
    "client_id" TEXT,
    "client_secret" BYTEA,
    "secret_expires_at" TIMESTAMPTZ(3),
    "token_endpoint_auth_method" "token_endpoint_auth_method" NOT NULL,
    "scopes" TEXT[],
    "tenant" TEXT,
    "subject_claim" TEXT NOT NULL,
    "rule_claim" TEXT,
    "rule_field" "upstream_rule_field" NOT NULL,
    "normalisations" "upstream_normalisation"[],
    "state" "upstream_state" NOT NULL DEFAULT 'DRAFT',
    "group_ids" UUID[],
    "creates_guests" BOOLEAN NOT NULL DEFAULT false,
    "trusted_for_second_factor" BOOLEAN NOT NULL DEFAULT false,
    "ends_upstream_session" BOOLEAN NOT NULL DEFAULT false,
    "metadata" JSONB,
    "metadata_read_at" TIMESTAMPTZ(3),
    "keys" JSONB,
    "keys_read_at" TIMESTAMPTZ(3),
    "refresh_at" TIMESTAMPTZ(3),
    "tested_at" TIMESTAMPTZ(3),
    "last_success_at" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "last_failure" TEXT,
    "last_failure_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upstream_connection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_link" (
    "connection_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "person_id" UUID NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,
    "linked_by" "upstream_linked_by" NOT NULL,
    "last_sign_in_at" TIMESTAMPTZ(3),

    CONSTRAINT "upstream_link_pkey" PRIMARY KEY ("connection_id","issuer","subject")
);

-- CreateTable
CREATE TABLE "upstream_refusal" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "subject_hash" BYTEA NOT NULL,
    "details" BYTEA NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,
    "tries" INTEGER NOT NULL,

    CONSTRAINT "upstream_refusal_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_round_trip" (
    "state_hash" BYTEA NOT NULL,
    "connection_id" UUID NOT NULL,
    "browser_hash" BYTEA NOT NULL,
    "purpose" "upstream_purpose" NOT NULL,
    "details" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upstream_round_trip_pkey" PRIMARY KEY ("state_hash")
);

-- CreateTable
CREATE TABLE "upstream_session" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "sub" TEXT NOT NULL,
    "sid" TEXT,
    "person_id" UUID NOT NULL,
    "id_token" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "check_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upstream_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_set_up_link" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by_role" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "opened_at" TIMESTAMPTZ(3),
    "browser_hash" BYTEA,
    "closed_at" TIMESTAMPTZ(3),
    "tested" BYTEA,

    CONSTRAINT "upstream_set_up_link_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_recent_sign_in" (
    "connection_id" UUID NOT NULL,
    "place" INTEGER NOT NULL,
    "person_id" UUID NOT NULL,
    "claims" BYTEA NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upstream_recent_sign_in_pkey" PRIMARY KEY ("connection_id","place")
);

-- CreateTable
CREATE TABLE "school_way_in" (
    "school_id" UUID NOT NULL,
    "link_name" TEXT,
    "local_passwords" BOOLEAN NOT NULL DEFAULT true,
    "emergency_until" TIMESTAMPTZ(3),

    CONSTRAINT "school_way_in_pkey" PRIMARY KEY ("school_id")
);

-- CreateIndex
CREATE INDEX "upstream_connection_refresh_at_idx" ON "upstream_connection"("refresh_at");

-- CreateIndex
CREATE INDEX "upstream_connection_state_school_id_idx" ON "upstream_connection"("state", "school_id");

-- CreateIndex
CREATE INDEX "upstream_connection_secret_expires_at_idx" ON "upstream_connection"("secret_expires_at");

-- CreateIndex
CREATE INDEX "upstream_connection_failing_since_idx" ON "upstream_connection"("failing_since");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_connection_school_id_issuer_client_id_key" ON "upstream_connection"("school_id", "issuer", "client_id");

-- CreateIndex
CREATE INDEX "upstream_link_person_id_idx" ON "upstream_link"("person_id");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_link_connection_id_person_id_key" ON "upstream_link"("connection_id", "person_id");

-- CreateIndex
CREATE INDEX "upstream_refusal_connection_id_last_at_idx" ON "upstream_refusal"("connection_id", "last_at");

-- CreateIndex
CREATE INDEX "upstream_refusal_last_at_idx" ON "upstream_refusal"("last_at");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_refusal_connection_id_subject_hash_code_key" ON "upstream_refusal"("connection_id", "subject_hash", "code");

-- CreateIndex
CREATE INDEX "upstream_round_trip_connection_id_idx" ON "upstream_round_trip"("connection_id");

-- CreateIndex
CREATE INDEX "upstream_round_trip_expires_at_idx" ON "upstream_round_trip"("expires_at");

-- CreateIndex
CREATE INDEX "upstream_session_connection_id_sub_idx" ON "upstream_session"("connection_id", "sub");

-- CreateIndex
CREATE INDEX "upstream_session_connection_id_sid_idx" ON "upstream_session"("connection_id", "sid");

-- CreateIndex
CREATE INDEX "upstream_session_person_id_idx" ON "upstream_session"("person_id");

-- CreateIndex
CREATE INDEX "upstream_session_check_at_idx" ON "upstream_session"("check_at");

-- CreateIndex
CREATE UNIQUE INDEX "upstream_set_up_link_token_hash_key" ON "upstream_set_up_link"("token_hash");

-- CreateIndex
CREATE INDEX "upstream_set_up_link_connection_id_idx" ON "upstream_set_up_link"("connection_id");

-- CreateIndex
CREATE INDEX "upstream_set_up_link_expires_at_idx" ON "upstream_set_up_link"("expires_at");

-- CreateIndex
CREATE INDEX "upstream_recent_sign_in_person_id_idx" ON "upstream_recent_sign_in"("person_id");

-- CreateIndex
CREATE INDEX "upstream_recent_sign_in_at_idx" ON "upstream_recent_sign_in"("at");

-- CreateIndex
CREATE UNIQUE INDEX "school_way_in_link_name_key" ON "school_way_in"("link_name");

-- CreateIndex
CREATE INDEX "school_way_in_emergency_until_idx" ON "school_way_in"("emergency_until");

-- AddForeignKey
ALTER TABLE "upstream_connection" ADD CONSTRAINT "upstream_connection_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_link" ADD CONSTRAINT "upstream_link_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_link" ADD CONSTRAINT "upstream_link_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_refusal" ADD CONSTRAINT "upstream_refusal_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_round_trip" ADD CONSTRAINT "upstream_round_trip_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_session" ADD CONSTRAINT "upstream_session_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_session" ADD CONSTRAINT "upstream_session_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_set_up_link" ADD CONSTRAINT "upstream_set_up_link_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_recent_sign_in" ADD CONSTRAINT "upstream_recent_sign_in_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "upstream_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upstream_recent_sign_in" ADD CONSTRAINT "upstream_recent_sign_in_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_way_in" ADD CONSTRAINT "school_way_in_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand.
ALTER TABLE "upstream_connection"
  ALTER COLUMN "scopes" SET NOT NULL,
  ALTER COLUMN "normalisations" SET NOT NULL,
  ALTER COLUMN "group_ids" SET NOT NULL,
  ADD CONSTRAINT "upstream_connection_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 60),
  ADD CONSTRAINT "upstream_connection_complete_check" CHECK (
    "state" = 'DRAFT' OR num_nulls("issuer", "client_id", "client_secret", "tested_at") = 0),
  ADD CONSTRAINT "upstream_connection_auth_method_check" CHECK (
    "token_endpoint_auth_method" IN ('client_secret_basic', 'client_secret_post')),
  ADD CONSTRAINT "upstream_connection_failure_check" CHECK (
    ("last_failure" IS NULL) = ("last_failure_at" IS NULL) AND ("failing_since" IS NULL OR "last_failure" IS NOT NULL));
ALTER TABLE "upstream_refusal"
  ADD CONSTRAINT "upstream_refusal_subject_hash_check" CHECK (octet_length("subject_hash") = 32),
  ADD CONSTRAINT "upstream_refusal_tries_check" CHECK ("tries" > 0 AND "last_at" >= "first_at");
ALTER TABLE "upstream_round_trip"
  ADD CONSTRAINT "upstream_round_trip_hash_check" CHECK (
    octet_length("state_hash") = 32 AND octet_length("browser_hash") = 32);
ALTER TABLE "upstream_set_up_link"
  ADD CONSTRAINT "upstream_set_up_link_token_hash_check" CHECK (octet_length("token_hash") = 32),
  ADD CONSTRAINT "upstream_set_up_link_browser_check" CHECK (
    ("opened_at" IS NULL) = ("browser_hash" IS NULL) AND octet_length("browser_hash") = 32);
ALTER TABLE "upstream_recent_sign_in"
  ADD CONSTRAINT "upstream_recent_sign_in_place_check" CHECK ("place" BETWEEN 0 AND 199);
ALTER TABLE "school_way_in"
  ADD CONSTRAINT "school_way_in_link_name_check" CHECK (
    "link_name" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length("link_name") BETWEEN 3 AND 60);

-- Rows of a minute, and a row for each sign-in: cleaned early.
ALTER TABLE "upstream_round_trip" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "upstream_session" SET (
  fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- What a sign-in opened here is void from the commit on; the job of the cards deletes it and tells the apps.
CREATE TRIGGER "upstream_session_ended_voids_sign_ins" AFTER UPDATE OF "ended_at" ON "upstream_session" FOR EACH ROW
  WHEN (NEW."ended_at" IS NOT NULL AND OLD."ended_at" IS NULL) EXECUTE FUNCTION "void_sign_ins_of_card"();

-- Who leaves the school is no longer signed in by its login: what was opened with it ends.
CREATE FUNCTION "end_upstream_sessions_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE upstream_session SET ended_at = greatest(now(), created_at) WHERE person_id = NEW.id AND ended_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER "person_home_ends_upstream_sessions" AFTER UPDATE OF "home_school_id" ON "person" FOR EACH ROW
  WHEN (OLD."home_school_id" IS DISTINCT FROM NEW."home_school_id") EXECUTE FUNCTION "end_upstream_sessions_of_person"();
