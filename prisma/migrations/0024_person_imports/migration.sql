-- CreateTable
CREATE TABLE "person_import" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "change" TEXT NOT NULL,
    "classes_before" TEXT[],
    "classes_after" TEXT[],

    CONSTRAINT "person_import_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "person_import_person_id_id_idx" ON "person_import"("person_id", "id");

-- AddForeignKey
ALTER TABLE "person_import" ADD CONSTRAINT "person_import_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: the words that a column may hold.
ALTER TABLE "person_import"
  ALTER COLUMN "classes_before" SET NOT NULL,
  ALTER COLUMN "classes_after" SET NOT NULL,
  ADD CONSTRAINT "person_import_change_check"
    CHECK ("change" IN ('CHANGED', 'CLASSES', 'JOINED', 'LEFT', 'REMOVED', 'RESTORED'));
