-- CreateTable
CREATE TABLE "roster_connection" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "secret" BYTEA,
    "state" TEXT NOT NULL,
    "times" TEXT[],
    "days_off" TEXT[],
    "pause_from" DATE,
    "pause_until" DATE,
    "applies" TEXT NOT NULL,
    "notify_addresses" TEXT[],
    "next_run_at" TIMESTAMPTZ(3),
    "lease_holder" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "last_failure" TEXT,
    "is_told" BOOLEAN NOT NULL DEFAULT false,
    "digest" BYTEA,
    "validator" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "roster_connection_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "roster_connection_school" (
    "connection_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,

    CONSTRAINT "roster_connection_school_pkey" PRIMARY KEY ("connection_id","school_id")
);

-- CreateTable
CREATE TABLE "roster_run" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "trigger" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "failure" TEXT,
    "detail" TEXT,
    "counts" JSONB,
    "import_id" UUID,
    "replaced_import_id" UUID,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "notice" TEXT,
    "notice_due_at" TIMESTAMPTZ(3),
    "notice_tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "roster_run_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "roster_connection_next_run_at_idx" ON "roster_connection"("next_run_at");

-- CreateIndex
CREATE INDEX "roster_connection_school_school_id_idx" ON "roster_connection_school"("school_id");

-- CreateIndex
CREATE INDEX "roster_run_connection_id_id_idx" ON "roster_run"("connection_id", "id");

-- CreateIndex
CREATE INDEX "roster_run_started_at_idx" ON "roster_run"("started_at");

-- CreateIndex
CREATE INDEX "roster_run_notice_due_at_idx" ON "roster_run"("notice_due_at");

-- AddForeignKey
ALTER TABLE "roster_connection_school" ADD CONSTRAINT "roster_connection_school_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "roster_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "roster_connection_school" ADD CONSTRAINT "roster_connection_school_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "roster_run" ADD CONSTRAINT "roster_run_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "roster_connection"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand.
ALTER TABLE "roster_connection"
  ADD CONSTRAINT "roster_connection_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 60),
  ADD CONSTRAINT "roster_connection_state_check" CHECK ("state" IN ('ON', 'OFF')),
  ADD CONSTRAINT "roster_connection_applies_check" CHECK ("applies" IN ('PREVIEW', 'UNLESS_HELD')),
  ADD CONSTRAINT "roster_connection_failing_check" CHECK (("failing_since" IS NULL) = ("failures" = 0)),
  ADD CONSTRAINT "roster_connection_pause_check" CHECK (num_nulls("pause_from", "pause_until") IN (0, 2));

ALTER TABLE "roster_run"
  ADD CONSTRAINT "roster_run_outcome_check" CHECK (("outcome" = 'RUNNING') = ("ended_at" IS NULL)),
  ADD CONSTRAINT "roster_run_failure_check" CHECK (("outcome" = 'FAILED') = ("failure" IS NOT NULL));

CREATE FUNCTION delete_roster_connection_without_school() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "roster_connection" WHERE "id" = OLD."connection_id"
    AND NOT EXISTS (SELECT FROM "roster_connection_school" WHERE "connection_id" = OLD."connection_id");
  RETURN NULL;
END
$$;
CREATE TRIGGER "roster_connection_school_deleted" AFTER DELETE ON "roster_connection_school"
  FOR EACH ROW EXECUTE FUNCTION delete_roster_connection_without_school();
