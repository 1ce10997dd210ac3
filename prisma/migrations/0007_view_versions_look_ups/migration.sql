-- Written by hand. In a table of one row every index that names the column asked for costs the same, so a plan that was made then, and
-- is kept, may look up by the wrong one. For every look-up each index that could be taken has to fit.

-- No request reads all people or all schools in their order; the command line sorts the few that it found.
DROP INDEX "person_sort_key_id_idx";
DROP INDEX "school_sort_key_id_idx";

DROP INDEX "grant_school_id_idx";
CREATE INDEX "grant_school_id_client_id_idx" ON "grant" ("school_id", "client_id");
DROP INDEX "synced_group_group_id_idx";
CREATE INDEX "synced_group_group_id_client_id_idx" ON "synced_group" ("group_id", "client_id");
DROP INDEX "grant_sign_on_group_group_id_idx";
CREATE INDEX "grant_sign_on_group_group_id_client_id_idx" ON "grant_sign_on_group" ("group_id", "client_id");
