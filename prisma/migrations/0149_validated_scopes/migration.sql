-- Written by hand: the rows are read without the lock under which 0148 replaced the constraint.
ALTER TABLE "app" VALIDATE CONSTRAINT "app_scopes_check";
