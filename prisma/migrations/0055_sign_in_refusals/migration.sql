-- CreateEnum
CREATE TYPE "card_refusal" AS ENUM ('REVOKED', 'DISABLED', 'GRADE', 'HOURS', 'NETWORK', 'ANSWER');

-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "has_signed_in" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "login_card" ADD COLUMN     "refused_at" TIMESTAMPTZ(3),
ADD COLUMN     "refused_for" "card_refusal";

-- CreateTable
CREATE TABLE "wrong_password" (
    "key" BYTEA NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "person_id" UUID,
    "tries" INTEGER NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wrong_password_pkey" PRIMARY KEY ("key","hour")
);

-- CreateIndex
CREATE INDEX "wrong_password_person_id_idx" ON "wrong_password"("person_id");

-- CreateIndex
CREATE INDEX "wrong_password_hour_idx" ON "wrong_password"("hour");

-- Written by hand. Whatever ends a person's sign-ins raises the generation first and forgets their devices after it.
CREATE FUNCTION "remember_has_signed_in"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  NEW.has_signed_in := OLD.has_signed_in OR EXISTS (SELECT FROM sign_in_place WHERE person_id = NEW.person_id);
  RETURN NEW;
END $$;
CREATE TRIGGER "credential_remembers_has_signed_in" BEFORE UPDATE OF "generation" ON "credential" FOR EACH ROW
  EXECUTE FUNCTION "remember_has_signed_in"();
