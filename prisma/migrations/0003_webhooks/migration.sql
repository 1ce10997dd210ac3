-- CreateEnum
CREATE TYPE "webhook_endpoint_state" AS ENUM ('ACTIVE', 'PAUSED', 'DISABLED');

-- CreateEnum
CREATE TYPE "webhook_delivery_state" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "event_types" TEXT[],
    "state" "webhook_endpoint_state" NOT NULL DEFAULT 'ACTIVE',
    "reason" TEXT,
    "state_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "resume_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "leased_by" UUID,
    "leased_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_secret" (
    "id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" BIGSERIAL NOT NULL,
    "message_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "is_test" BOOLEAN NOT NULL DEFAULT false,
    "body" TEXT NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "attempts_spent" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "delivery_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "status" INTEGER,
    "answer" BYTEA,
    "error" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id","number")
);

-- CreateTable
CREATE TABLE "webhook_fan_out" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL,

    CONSTRAINT "webhook_fan_out_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoint_client_id_idx" ON "webhook_endpoint"("client_id");

-- CreateIndex
CREATE INDEX "webhook_secret_endpoint_id_idx" ON "webhook_secret"("endpoint_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_id_idx" ON "webhook_delivery"("endpoint_id", "id");

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_secret" ADD CONSTRAINT "webhook_secret_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: what Prisma cannot say.
INSERT INTO "webhook_fan_out" ("id", "position") VALUES (1, 0);
ALTER TABLE "webhook_fan_out" ADD CONSTRAINT "webhook_fan_out_check" CHECK ("id" = 1);

ALTER TABLE "webhook_endpoint" ALTER COLUMN "event_types" SET NOT NULL;
ALTER TABLE "webhook_endpoint"
  ADD CONSTRAINT "webhook_endpoint_url_check" CHECK ("url" ~ '^https?://' AND char_length("url") <= 2000),
  ADD CONSTRAINT "webhook_endpoint_event_types_check" CHECK (
    cardinality("event_types") > 0 AND "event_types" <@ ARRAY['person', 'group', 'school']),
  ADD CONSTRAINT "webhook_endpoint_state_check" CHECK (
    ("state" = 'ACTIVE') = ("reason" IS NULL)
    AND ("resume_at" IS NOT NULL) = coalesce("state" = 'PAUSED' AND "reason" = 'failing', false)),
  ADD CONSTRAINT "webhook_endpoint_reason_check" CHECK ("reason" IN ('asked_for', 'failing', 'gone')),
  ADD CONSTRAINT "webhook_endpoint_failures_check" CHECK ("failures" >= 0 AND ("failures" > 0) = ("failing_since" IS NOT NULL)),
  ADD CONSTRAINT "webhook_endpoint_lease_check" CHECK (("leased_by" IS NULL) = ("leased_until" IS NULL));

-- One secret signs; those before it have an end.
CREATE UNIQUE INDEX "webhook_secret_one_current_idx" ON "webhook_secret" ("endpoint_id") WHERE "expires_at" IS NULL;

ALTER TABLE "webhook_delivery"
  ADD CONSTRAINT "webhook_delivery_event_type_check" CHECK ("event_type" IN ('person', 'group', 'school')),
  ADD CONSTRAINT "webhook_delivery_finished_check" CHECK (("state" = 'PENDING') = ("finished_at" IS NULL)),
  ADD CONSTRAINT "webhook_delivery_attempts_check" CHECK ("attempts" >= "attempts_spent" AND "attempts_spent" >= 0);
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_outcome_check" CHECK (
  ("status" IS NULL) = ("error" IS NOT NULL) AND octet_length("answer") <= 4096);

-- What is due, and what waits behind an earlier event of the same subject; nothing that is finished.
CREATE INDEX "webhook_delivery_due_idx" ON "webhook_delivery" ("endpoint_id", "next_attempt_at", "id") WHERE "state" = 'PENDING';
CREATE INDEX "webhook_delivery_subject_idx" ON "webhook_delivery" ("endpoint_id", "subject_id", "id") WHERE "state" = 'PENDING';

-- Leases move often and are in no index: their rows are changed in place.
ALTER TABLE "webhook_endpoint" SET (fillfactor = 50);
ALTER TABLE "webhook_delivery" SET (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
