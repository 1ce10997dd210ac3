-- CreateEnum
CREATE TYPE "second_factor_kind" AS ENUM ('TOTP', 'PASSKEY');

-- AlterTable
ALTER TABLE "person" ALTER COLUMN "home_school_id" DROP NOT NULL;

-- CreateTable
CREATE TABLE "second_factor" (
    "id" UUID NOT NULL,
    "person_id" UUID NOT NULL,
    "kind" "second_factor_kind" NOT NULL,
    "label" TEXT NOT NULL,
    "secret" BYTEA,
    "last_step" INTEGER,
    "credential_id" TEXT,
    "public_key" BYTEA,
    "counter" BIGINT,
    "transports" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "second_factor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "person_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("person_id","hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "second_factor_credential_id_key" ON "second_factor"("credential_id");

-- CreateIndex
CREATE INDEX "second_factor_person_id_idx" ON "second_factor"("person_id");

-- AddForeignKey
ALTER TABLE "second_factor" ADD CONSTRAINT "second_factor_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what each kind consists of; a label is a text; transports may be none, never null.
ALTER TABLE "second_factor"
  ALTER COLUMN "transports" SET NOT NULL,
  ADD CONSTRAINT "second_factor_kind_check" CHECK (
    CASE "kind"
      WHEN 'TOTP' THEN "secret" IS NOT NULL AND num_nonnulls("credential_id", "public_key", "counter") = 0
      WHEN 'PASSKEY' THEN num_nonnulls("credential_id", "public_key", "counter") = 3
        AND num_nonnulls("secret", "last_step") = 0
    END),
  ADD CONSTRAINT "second_factor_label_check" CHECK ("label" ~ '\S' AND char_length("label") <= 60);
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_hash_check" CHECK (octet_length("hash") = 32);
