-- looser: one more word; every row was written under the stricter rule
-- UNMAPPED: the import waits for its columns. UNDONE: the application was undone.
ALTER TABLE "import"
  DROP CONSTRAINT "import_state_check",
  ADD CONSTRAINT "import_state_check"
    CHECK ("state" IN ('READING', 'UNMAPPED', 'BROKEN', 'READY', 'HELD', 'APPLIED', 'EXPIRED', 'CANCELLED', 'UNDONE')) NOT VALID;

DROP INDEX "import_waiting_idx";
CREATE INDEX "import_waiting_idx" ON "import" ("created_at") WHERE "state" IN ('READING', 'UNMAPPED', 'READY', 'HELD');
