-- Written by hand: what changed for an app since a time. Writes wait while an index is built: a large database builds
-- them beforehand (deploy/README.md).
CREATE INDEX IF NOT EXISTS "app_event_client_id_at_idx" ON "app_event"("client_id", "at");
CREATE INDEX IF NOT EXISTS "group_created_at_idx" ON "group"("created_at");
CREATE INDEX IF NOT EXISTS "person_created_at_idx" ON "person"("created_at");
