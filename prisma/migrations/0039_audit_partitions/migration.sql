-- Written by hand. A log of hundreds of millions of lines a month is dropped by the month, not deleted by the line. The
-- lines so far stay where they are, as the first partition. "id" is unique within each partition.
SET LOCAL TIME ZONE 'UTC';

-- Reads all lines, while others write.
ALTER TABLE "audit" VALIDATE CONSTRAINT "audit_first_at_check";

ALTER TABLE "audit" RENAME TO "audit_first";
ALTER INDEX "audit_pkey" RENAME TO "audit_first_pkey";
ALTER INDEX "audit_at_idx" RENAME TO "audit_first_at_idx";
ALTER INDEX "audit_person_id_at_idx" RENAME TO "audit_first_person_id_at_idx";
ALTER INDEX "audit_client_id_at_idx" RENAME TO "audit_first_client_id_at_idx";
ALTER INDEX "audit_school_id_at_idx" RENAME TO "audit_first_school_id_at_idx";
ALTER INDEX "audit_actor_id_idx" RENAME TO "audit_first_actor_id_idx";

CREATE TABLE "audit" (
  LIKE "audit_first" INCLUDING DEFAULTS,
  CONSTRAINT "audit_action_check" CHECK ("action" ~ '^[a-z]+(_[a-z]+)*$')
) PARTITION BY RANGE ("at");
CREATE INDEX "audit_at_idx" ON "audit" ("at");
CREATE INDEX "audit_person_id_at_idx" ON "audit" ("person_id", "at");
CREATE INDEX "audit_client_id_at_idx" ON "audit" ("client_id", "at");
CREATE INDEX "audit_school_id_at_idx" ON "audit" ("school_id", "at");
CREATE INDEX "audit_actor_id_idx" ON "audit" ("actor_id") WHERE "actor_id" IS NOT NULL;

DO $$
DECLARE
  bound text := (SELECT substring(pg_get_constraintdef(oid) FROM '''([^'']+)''') FROM pg_constraint
    WHERE conrelid = '"audit_first"'::regclass AND conname = 'audit_first_at_check');
BEGIN
  EXECUTE format('ALTER TABLE "audit" ATTACH PARTITION "audit_first" FOR VALUES FROM (MINVALUE) TO (%L)', bound);
END $$;
ALTER TABLE "audit_first" DROP CONSTRAINT "audit_first_at_check";

-- Takes the lines for which no partition was made in time, so that no line is ever refused.
CREATE TABLE "audit_rest" PARTITION OF "audit" (PRIMARY KEY ("id")) DEFAULT;
