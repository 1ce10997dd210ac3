-- CreateTable
CREATE TABLE "app_event" (
    "id" UUID NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "position" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "client_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "school_id" UUID,
    "updated_properties" TEXT[],
    "reason" TEXT,
    "reason_until" TIMESTAMPTZ(3),

    CONSTRAINT "app_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_feed" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "last_position" BIGINT NOT NULL,
    "swept_position" BIGINT NOT NULL,

    CONSTRAINT "event_feed_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_event_position_key" ON "app_event"("position");

-- CreateIndex
CREATE INDEX "app_event_client_id_position_idx" ON "app_event"("client_id", "position");

-- Written by hand: what Prisma cannot say.
INSERT INTO "event_feed" ("id", "last_position", "swept_position") VALUES (1, 0, 0);

ALTER TABLE "event_feed" ADD CONSTRAINT "event_feed_check" CHECK (
  "id" = 1 AND "swept_position" BETWEEN 0 AND "last_position");

-- A list may be empty, never null.
ALTER TABLE "app_event" ALTER COLUMN "updated_properties" SET NOT NULL;

ALTER TABLE "app_event"
  ADD CONSTRAINT "app_event_type_check" CHECK ("type" IN ('person', 'group', 'school')),
  ADD CONSTRAINT "app_event_action_check" CHECK ("action" IN ('create', 'update', 'delete', 'restore')),
  ADD CONSTRAINT "app_event_updated_properties_check" CHECK (
    CASE "action"
      WHEN 'create' THEN cardinality("updated_properties") = 0
      WHEN 'delete' THEN "updated_properties" IN ('{}', '{status}')
      ELSE cardinality("updated_properties") > 0
    END),
  ADD CONSTRAINT "app_event_reason_check" CHECK (
    ("action" = 'delete') = ("reason" IS NOT NULL)
    AND "reason" IN ('deleted', 'soft_deleted', 'no_longer_synced', 'access_withdrawn')
    AND ("reason_until" IS NULL OR "reason" = 'soft_deleted'));

-- The sequencer asks for what has no position yet; that is nearly always nothing.
CREATE INDEX "app_event_waiting_idx" ON "app_event" ("seq") WHERE "position" IS NULL;
