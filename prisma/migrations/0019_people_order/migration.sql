-- CreateIndex
CREATE INDEX "person_sort_key_id_idx" ON "person"("sort_key", "id");
