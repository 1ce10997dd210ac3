-- AlterTable
ALTER TABLE "import" ADD COLUMN     "headings" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "rows" JSONB,
ADD COLUMN     "warning_count" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "staged_person" ADD COLUMN     "fields" JSONB;

-- CreateTable
CREATE TABLE "import_faulty_row" (
    "import_id" UUID NOT NULL,
    "line" INTEGER NOT NULL,
    "fields" JSONB NOT NULL,
    "source_id" TEXT,
    "group_source_ids" TEXT[],

    CONSTRAINT "import_faulty_row_pkey" PRIMARY KEY ("import_id","line")
);

-- AddForeignKey
ALTER TABLE "import_faulty_row" ADD CONSTRAINT "import_faulty_row_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;
