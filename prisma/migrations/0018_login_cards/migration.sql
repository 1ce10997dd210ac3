-- CreateEnum
CREATE TYPE "card_second_step" AS ENUM ('NONE', 'PICTURE', 'PIN');

-- CreateTable
CREATE TABLE "card_settings" (
    "school_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "grades" INTEGER[],
    "hours_from" TEXT,
    "hours_to" TEXT,
    "weekdays" INTEGER[],
    "networks" TEXT[],
    "second_step" "card_second_step" NOT NULL,
    "print_second_step" BOOLEAN NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "card_settings_pkey" PRIMARY KEY ("school_id")
);

-- CreateTable
CREATE TABLE "login_card" (
    "id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "second_step" "card_second_step" NOT NULL,
    "second_step_hash" BYTEA,
    "wrong_answers" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by_role" TEXT,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "login_card_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "card_print" (
    "id" UUID NOT NULL,
    "caller" TEXT NOT NULL,
    "encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "card_print_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "login_card_token_hash_key" ON "login_card"("token_hash");

-- CreateIndex
CREATE INDEX "login_card_person_id_school_id_idx" ON "login_card"("person_id", "school_id");

-- CreateIndex
CREATE INDEX "login_card_school_id_id_idx" ON "login_card"("school_id", "id");

-- CreateIndex
CREATE INDEX "card_print_created_at_idx" ON "card_print"("created_at");

-- AddForeignKey
ALTER TABLE "card_settings" ADD CONSTRAINT "card_settings_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "login_card" ADD CONSTRAINT "login_card_person_id_school_id_fkey" FOREIGN KEY ("person_id", "school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what Prisma cannot say. Lists may be empty, never null.
ALTER TABLE "card_settings"
  ALTER COLUMN "grades" SET NOT NULL,
  ALTER COLUMN "weekdays" SET NOT NULL,
  ALTER COLUMN "networks" SET NOT NULL,
  ADD CONSTRAINT "card_settings_grades_check" CHECK (1 <= ALL ("grades") AND 13 >= ALL ("grades")),
  ADD CONSTRAINT "card_settings_weekdays_check" CHECK (1 <= ALL ("weekdays") AND 7 >= ALL ("weekdays")),
  ADD CONSTRAINT "card_settings_hours_check" CHECK (
    CASE WHEN "hours_from" IS NULL THEN "hours_to" IS NULL AND cardinality("weekdays") = 0
         ELSE coalesce("hours_from" < "hours_to", false) AND cardinality("weekdays") > 0 END);

ALTER TABLE "login_card"
  ADD CONSTRAINT "login_card_token_hash_check" CHECK (octet_length("token_hash") = 32),
  ADD CONSTRAINT "login_card_second_step_check" CHECK (("second_step" = 'NONE') = ("second_step_hash" IS NULL));
