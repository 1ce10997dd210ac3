-- AlterTable
ALTER TABLE "job_run" ADD COLUMN     "done_at" TIMESTAMPTZ(3),
ADD COLUMN     "failures" INTEGER NOT NULL DEFAULT 0;
