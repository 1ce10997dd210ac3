-- Written by hand: people of the staff who are at no school, in the order in which they are listed.
CREATE INDEX "person_at_no_school_idx" ON "person" ("sort_key", "id") WHERE "home_school_id" IS NULL;
