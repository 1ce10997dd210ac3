-- AlterTable
ALTER TABLE "roster_run" ADD COLUMN     "notice_told" TEXT[] DEFAULT ARRAY[]::TEXT[];
