-- Written by hand: what jobs and pages look for is a few rows of many, and each stands in an index of those alone.
CREATE INDEX "login_card_revoked_at_idx" ON "login_card" ("revoked_at") WHERE "revoked_at" IS NOT NULL;
CREATE INDEX "import_waiting_idx" ON "import" ("created_at") WHERE "state" IN ('READING', 'READY', 'HELD');
CREATE INDEX "import_progress_at_idx" ON "import" ("progress_at") WHERE "progress_at" IS NOT NULL;
CREATE INDEX "import_named_school_ids_idx" ON "import" USING gin ("named_school_ids");
CREATE INDEX "import_error_line_text_idx" ON "import_error" ("import_id", "row") WHERE "line_text" IS NOT NULL;
