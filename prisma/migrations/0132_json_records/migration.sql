-- AlterTable
ALTER TABLE "import_error" ADD COLUMN     "record" INTEGER;

-- AlterTable
ALTER TABLE "staged_person" ADD COLUMN     "record" INTEGER;
