-- Written by hand: the rows are read without the lock under which 0053 and 0059 replaced the constraints.
ALTER TABLE "import" VALIDATE CONSTRAINT "import_state_check";
ALTER TABLE "import_school" VALIDATE CONSTRAINT "import_school_state_check";
ALTER TABLE "import_school" VALIDATE CONSTRAINT "import_school_applied_check";
ALTER TABLE "person_import" VALIDATE CONSTRAINT "person_import_change_check";
