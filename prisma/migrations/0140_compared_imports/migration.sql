-- AlterTable
ALTER TABLE "import_school" ADD COLUMN     "compared_at" TIMESTAMPTZ(3),
ADD COLUMN     "directory_version" BIGINT;
