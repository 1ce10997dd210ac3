-- Written by hand. FOR SHARE: no school gets another sort key meanwhile.
WITH named AS MATERIALIZED (SELECT "id", "sort_key" FROM "school" FOR SHARE)
UPDATE "grant" g SET "school_sort_key" = named."sort_key" FROM named WHERE named."id" = g."school_id";
CREATE INDEX "grant_client_id_school_sort_key_school_id_idx" ON "grant" ("client_id", "school_sort_key", "school_id");
