-- CreateIndex
CREATE INDEX "app_event_subject_id_seq_idx" ON "app_event"("subject_id", "seq");

-- Written by hand: what somebody did is also found where they did it for themselves, in no role.
DROP INDEX "audit_actor_id_idx";
CREATE INDEX "audit_actor_id_idx" ON "audit" ("actor_id") WHERE "actor_id" IS NOT NULL;
