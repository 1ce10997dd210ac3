-- AlterTable
ALTER TABLE "import" ADD COLUMN     "undone_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "import_school" ADD COLUMN     "changed_subjects" INTEGER,
ADD COLUMN     "undo_until" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "import_change" (
    "import_id" UUID NOT NULL,
    "subject_id" UUID NOT NULL,
    "person_id" UUID,
    "school_id" UUID NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "keep_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_change_pkey" PRIMARY KEY ("import_id","subject_id")
);

-- CreateIndex
CREATE INDEX "import_change_person_id_idx" ON "import_change"("person_id");

-- CreateIndex
CREATE INDEX "import_change_keep_until_idx" ON "import_change"("keep_until");

-- AddForeignKey
ALTER TABLE "import_change" ADD CONSTRAINT "import_change_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "import_change" ADD CONSTRAINT "import_change_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: the words that a column may hold.
-- looser: one more word each; every row was written under the stricter rule
ALTER TABLE "import"
  DROP CONSTRAINT "import_state_check",
  ADD CONSTRAINT "import_state_check"
    CHECK ("state" IN ('READING', 'BROKEN', 'READY', 'HELD', 'APPLIED', 'EXPIRED', 'CANCELLED', 'UNDONE')) NOT VALID;
ALTER TABLE "import_school"
  DROP CONSTRAINT "import_school_state_check",
  ADD CONSTRAINT "import_school_state_check" CHECK ("state" IN ('READY', 'HELD', 'APPLIED', 'UNDONE')) NOT VALID,
  DROP CONSTRAINT "import_school_applied_check",
  ADD CONSTRAINT "import_school_applied_check"
    CHECK (("state" IN ('APPLIED', 'UNDONE')) = ("applied_at" IS NOT NULL)) NOT VALID;
ALTER TABLE "person_import"
  DROP CONSTRAINT "person_import_change_check",
  ADD CONSTRAINT "person_import_change_check"
    CHECK ("change" IN ('CHANGED', 'CLASSES', 'JOINED', 'LEFT', 'REMOVED', 'RESTORED', 'UNDONE')) NOT VALID;
