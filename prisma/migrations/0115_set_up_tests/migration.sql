-- AlterTable
ALTER TABLE "upstream_set_up_link" ADD COLUMN     "tests" INTEGER NOT NULL DEFAULT 0;
