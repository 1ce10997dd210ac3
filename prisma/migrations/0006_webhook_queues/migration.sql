-- Written by hand: what is pending already stays so, and the first of each subject has a time.
ALTER TABLE "webhook_delivery" ADD COLUMN "due_at" TIMESTAMPTZ(3);
UPDATE "webhook_delivery" SET "due_at" = "next_attempt_at" WHERE "id" IN (
  SELECT min("id") FROM "webhook_delivery" WHERE "state" = 'PENDING' GROUP BY "endpoint_id", "subject_id");
-- With its indexes.
ALTER TABLE "webhook_delivery" DROP COLUMN "next_attempt_at";
DROP INDEX "webhook_delivery_subject_idx";

ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_due_check" CHECK ("state" = 'PENDING' OR "due_at" IS NULL);

-- What may be sent, by when; that it is one of each subject; and what waits behind it. No condition follows from another, so that
-- a statement fits one index alone, whatever the statistics say.
CREATE INDEX "webhook_delivery_due_idx" ON "webhook_delivery" ("endpoint_id", "due_at", "id") WHERE "due_at" > '-infinity';
CREATE UNIQUE INDEX "webhook_delivery_one_first_idx" ON "webhook_delivery" ("endpoint_id", "subject_id") WHERE "state" = 'PENDING' AND "due_at" IS NOT NULL;
CREATE INDEX "webhook_delivery_waiting_idx" ON "webhook_delivery" ("endpoint_id", "subject_id", "id") WHERE "state" = 'PENDING' AND "due_at" IS NULL;
