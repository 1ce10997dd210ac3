-- Written by hand: the steps of a sign-on are found by each name that its attempt has. They are written many at a time,
-- and what waits to be entered into the index would be read from end to end.
CREATE INDEX "sign_on_step_attempt_idx" ON "sign_on_step" USING gin (string_to_array("attempt", '>')) WITH (fastupdate = off);
