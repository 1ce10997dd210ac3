-- AlterTable
ALTER TABLE "import" ADD COLUMN     "people" TEXT NOT NULL DEFAULT 'ALL';
