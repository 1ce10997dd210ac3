-- AlterTable
ALTER TABLE "import" ADD COLUMN     "named_school_ids" UUID[] DEFAULT ARRAY[]::UUID[],
ADD COLUMN     "progress_at" TIMESTAMPTZ(3),
ADD COLUMN     "progress_percent" INTEGER,
ADD COLUMN     "progress_phase" TEXT;

-- AlterTable
ALTER TABLE "import_error" ADD COLUMN     "line_text" TEXT;

-- Written by hand: what earlier versions read names the schools that it had something for.
UPDATE "import" SET "named_school_ids" = coalesce(
    (SELECT array_agg("school_id") FROM "import_school" WHERE "import_id" = "import"."id"), '{}');

-- Written by hand
ALTER TABLE "import"
  DROP CONSTRAINT "import_state_check",
  ADD CONSTRAINT "import_state_check"
    CHECK ("state" IN ('READING', 'BROKEN', 'READY', 'HELD', 'APPLIED', 'EXPIRED', 'CANCELLED')),
  DROP CONSTRAINT "import_broken_check",
  ADD CONSTRAINT "import_broken_check"
    CHECK (CASE "state" WHEN 'BROKEN' THEN "error_count" > 0 WHEN 'CANCELLED' THEN true ELSE "error_count" = 0 END),
  ADD CONSTRAINT "import_progress_check"
    CHECK ("progress_phase" IN ('READING', 'CHECKING', 'COMPARING')
      AND ("progress_phase" IS NULL) = ("progress_at" IS NULL)
      AND ("progress_phase" IS NULL) = ("progress_percent" IS NULL));
