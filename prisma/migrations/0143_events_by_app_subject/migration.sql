-- Written by hand: a page of people starts after one whom the app no longer sees (src/access/readable.ts).
CREATE INDEX "app_event_left_idx" ON "app_event" ("app_subject_id") WHERE "action" = 'delete' AND "app_subject_id" IS NOT NULL;
