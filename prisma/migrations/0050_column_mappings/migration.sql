-- AlterTable
ALTER TABLE "import" ADD COLUMN     "upload" JSONB;

-- CreateTable
CREATE TABLE "import_piece" (
    "import_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "import_piece_pkey" PRIMARY KEY ("import_id","number")
);

-- CreateTable
CREATE TABLE "column_mapping" (
    "school_id" UUID NOT NULL,
    "headings" TEXT NOT NULL,
    "mapping" JSONB NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "column_mapping_pkey" PRIMARY KEY ("school_id","headings")
);

-- AddForeignKey
ALTER TABLE "import_piece" ADD CONSTRAINT "import_piece_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "column_mapping" ADD CONSTRAINT "column_mapping_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;
