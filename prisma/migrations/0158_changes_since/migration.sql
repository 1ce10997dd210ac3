-- CreateIndex
CREATE INDEX "app_event_client_id_at_idx" ON "app_event"("client_id", "at");

-- CreateIndex
CREATE INDEX "group_created_at_idx" ON "group"("created_at");

-- CreateIndex
CREATE INDEX "person_created_at_idx" ON "person"("created_at");
