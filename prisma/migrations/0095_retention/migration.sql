-- CreateEnum
CREATE TYPE "retention_start" AS ENUM ('LEAVING', 'SCHOOL_YEAR_END');

-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "forgotten_sign_in_at" TIMESTAMPTZ(3) DEFAULT now();
-- Nobody knows when the devices that are forgotten already were last used.
ALTER TABLE "credential" ALTER COLUMN "forgotten_sign_in_at" DROP DEFAULT;

-- AlterTable
ALTER TABLE "person" ADD COLUMN     "left_at" TIMESTAMPTZ(3),
ADD COLUMN     "retention_from" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "retention_policy" (
    "id" UUID NOT NULL,
    "school_id" UUID,
    "state" TEXT,
    "left_months" INTEGER,
    "left_from" "retention_start",
    "left_reason" TEXT,
    "inactive_months" INTEGER,
    "inactive_roster" BOOLEAN,
    "inactive_reason" TEXT,
    "restore_days" INTEGER,
    "restore_reason" TEXT,
    "audit_days" INTEGER,
    "audit_reason" TEXT,
    "effective_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retention_policy_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "retention_check" (
    "school_id" UUID NOT NULL,
    "check_at" TIMESTAMPTZ(3) NOT NULL,
    "held_at" TIMESTAMPTZ(3),
    "held_people" INTEGER,
    "released_people" INTEGER,

    CONSTRAINT "retention_check_pkey" PRIMARY KEY ("school_id")
);

-- CreateTable
CREATE TABLE "retention_exemption" (
    "person_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "given_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retention_exemption_pkey" PRIMARY KEY ("person_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "retention_policy_school_id_key" ON "retention_policy"("school_id");

-- CreateIndex
CREATE UNIQUE INDEX "retention_policy_state_key" ON "retention_policy"("state");

-- CreateIndex
CREATE INDEX "retention_check_check_at_idx" ON "retention_check"("check_at");

-- CreateIndex
CREATE INDEX "person_import_school_id_at_idx" ON "person_import"("school_id", "at");

-- AddForeignKey
ALTER TABLE "retention_policy" ADD CONSTRAINT "retention_policy_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "retention_check" ADD CONSTRAINT "retention_check_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "retention_exemption" ADD CONSTRAINT "retention_exemption_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand.
CREATE INDEX "person_left_idx" ON "person" ("home_school_id") WHERE "left_at" IS NOT NULL AND "status" = 'ACTIVE';

ALTER TABLE "retention_policy"
  ADD CONSTRAINT "retention_policy_subject_check" CHECK (num_nonnulls("school_id", "state") = 1),
  ADD CONSTRAINT "retention_policy_state_check" CHECK ("state" ~ '^[A-Z]{2}-[A-Z0-9]{1,3}$'),
  ADD CONSTRAINT "retention_policy_left_check" CHECK (
    num_nulls("left_months", "left_from", "left_reason") IN (0, 3) AND "left_months" BETWEEN 0 AND 240),
  ADD CONSTRAINT "retention_policy_inactive_check" CHECK (
    num_nulls("inactive_months", "inactive_roster", "inactive_reason") IN (0, 3) AND "inactive_months" BETWEEN 0 AND 240),
  ADD CONSTRAINT "retention_policy_restore_check" CHECK (
    num_nulls("restore_days", "restore_reason") IN (0, 2) AND "restore_days" BETWEEN 1 AND 3650),
  ADD CONSTRAINT "retention_policy_audit_check" CHECK (
    num_nulls("audit_days", "audit_reason") IN (0, 2) AND "audit_days" BETWEEN 1 AND 3650),
  ADD CONSTRAINT "retention_policy_reasons_check" CHECK (
    greatest(char_length("left_reason"), char_length("inactive_reason"), char_length("restore_reason"),
      char_length("audit_reason")) <= 500);

ALTER TABLE "retention_check"
  ADD CONSTRAINT "retention_check_held_check" CHECK (num_nulls("held_at", "held_people") IN (0, 2));

ALTER TABLE "retention_exemption"
  ADD CONSTRAINT "retention_exemption_reason_check" CHECK ("reason" ~ '\S' AND char_length("reason") <= 500);

-- Remembers when devices and cards that are forgotten were last used.
CREATE OR REPLACE FUNCTION "remember_has_signed_in"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  used_at timestamptz := (SELECT max(last_used_at) FROM sign_in_place WHERE person_id = NEW.person_id);
BEGIN
  NEW.forgotten_sign_in_at := greatest(CASE WHEN OLD.has_signed_in THEN OLD.forgotten_sign_in_at END, used_at);
  NEW.has_signed_in := OLD.has_signed_in OR used_at IS NOT NULL;
  RETURN NEW;
END $$;

CREATE FUNCTION "remember_card_use"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE credential SET has_signed_in = true,
    forgotten_sign_in_at = greatest(CASE WHEN has_signed_in THEN forgotten_sign_in_at END, OLD.last_used_at)
  WHERE person_id = OLD.person_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "login_card_remembers_use" AFTER DELETE ON "login_card" FOR EACH ROW WHEN (OLD."last_used_at" IS NOT NULL)
  EXECUTE FUNCTION "remember_card_use"();
