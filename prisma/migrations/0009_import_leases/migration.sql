-- AlterTable
ALTER TABLE "import" ADD COLUMN     "lease_holder" UUID,
ADD COLUMN     "lease_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "person" ADD COLUMN     "source_id_is_shared" BOOLEAN NOT NULL DEFAULT false;

-- An id counts as shared where an import that was applied to the home school spoke of other schools too.
UPDATE "person" SET "source_id_is_shared" = true
WHERE "source_system_identifier" IS NOT NULL AND "home_school_id" IN (
  SELECT s."school_id" FROM "import_school" s
  JOIN "import_school" o ON o."import_id" = s."import_id" AND o."school_id" <> s."school_id"
  WHERE s."state" = 'APPLIED');
CREATE INDEX "person_shared_source_id_idx" ON "person" ("source_system_identifier") WHERE "source_id_is_shared";
