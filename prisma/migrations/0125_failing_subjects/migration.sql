-- AlterTable
ALTER TABLE "webhook_delivery" ADD COLUMN     "subject_fails" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "try_new_at" TIMESTAMPTZ(3);

-- Written by hand: subjects that have not failed are found first.
UPDATE "webhook_delivery" SET "subject_fails" = true WHERE "due_at" > '-infinity' AND "attempts" > "attempts_spent";
UPDATE "webhook_endpoint" SET "try_new_at" = "resume_at" WHERE "state" = 'PAUSED';
DROP INDEX "webhook_delivery_due_idx";
CREATE INDEX "webhook_delivery_due_idx" ON "webhook_delivery" ("endpoint_id", "subject_fails", "due_at", "id")
  WHERE "due_at" > '-infinity';
