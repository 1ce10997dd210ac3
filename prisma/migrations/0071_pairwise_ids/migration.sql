-- CreateEnum
CREATE TYPE "subject_type" AS ENUM ('SHARED', 'PARTNER', 'APP');

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "subject_type" "subject_type" NOT NULL DEFAULT 'SHARED',
ADD COLUMN     "sector" UUID;

ALTER TABLE "app" ADD CONSTRAINT "app_sector_check" CHECK (("subject_type" = 'SHARED') = ("sector" IS NULL));

-- AlterTable
ALTER TABLE "app_event" ADD COLUMN     "app_subject_id" UUID;

-- CreateTable
CREATE TABLE "pairwise_id" (
    "person_id" UUID NOT NULL,
    "record_id" UUID NOT NULL,
    "sector" UUID NOT NULL,
    "id" UUID NOT NULL,

    CONSTRAINT "pairwise_id_pkey" PRIMARY KEY ("person_id","record_id","sector")
);

-- CreateIndex
CREATE UNIQUE INDEX "pairwise_id_sector_id_key" ON "pairwise_id"("sector", "id");

-- A foreign key would delete them before the events about the deletion, which name them, are written.
CREATE FUNCTION "forget_pairwise_ids"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "pairwise_id" WHERE "person_id" = OLD."id";
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "person_forgets_pairwise_ids" AFTER DELETE ON "person"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "forget_pairwise_ids"();
