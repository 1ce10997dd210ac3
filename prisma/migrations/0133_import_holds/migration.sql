-- AlterTable
ALTER TABLE "import" ADD COLUMN     "other_school_id" UUID;

-- AlterTable
ALTER TABLE "import_school" ADD COLUMN     "confirmed" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "holds" JSONB NOT NULL DEFAULT '[]';
