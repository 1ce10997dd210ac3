-- AlterTable
ALTER TABLE "import_school" ADD COLUMN     "difference" TEXT;
