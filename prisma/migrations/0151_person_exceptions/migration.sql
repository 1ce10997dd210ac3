-- Written by hand: the people whom membership of a synced group does not show to an app as an active person.
CREATE INDEX "person_exception_idx" ON "person" ("id") WHERE "role" = 'OTHER' OR "status" <> 'ACTIVE';
