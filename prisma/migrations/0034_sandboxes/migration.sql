-- AlterTable
ALTER TABLE "school" ADD COLUMN     "sandbox_id" UUID;

-- CreateTable
CREATE TABLE "sandbox" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sandbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sandbox_step" (
    "sandbox_id" UUID NOT NULL,
    "step" TEXT NOT NULL,
    "done_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sandbox_step_pkey" PRIMARY KEY ("sandbox_id","step")
);

-- CreateIndex
CREATE INDEX "sandbox_client_id_idx" ON "sandbox"("client_id");

-- CreateIndex
CREATE INDEX "sandbox_expires_at_idx" ON "sandbox"("expires_at");

-- CreateIndex
CREATE INDEX "school_sandbox_id_idx" ON "school"("sandbox_id");

-- AddForeignKey
ALTER TABLE "sandbox" ADD CONSTRAINT "sandbox_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sandbox_step" ADD CONSTRAINT "sandbox_step_sandbox_id_fkey" FOREIGN KEY ("sandbox_id") REFERENCES "sandbox"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school" ADD CONSTRAINT "school_sandbox_id_fkey" FOREIGN KEY ("sandbox_id") REFERENCES "sandbox"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "sandbox" ADD CONSTRAINT "sandbox_expires_at_check" CHECK ("expires_at" > "created_at");
ALTER TABLE "sandbox_step" ADD CONSTRAINT "sandbox_step_step_check" CHECK ("step" ~ '^[A-Z]+(_[A-Z]+)*$');

-- Sandboxes and real schools share nothing. Without these triggers an invented person, whose password a partner knows, could come to a
-- real school, or a real person to a sandbox.
CREATE FUNCTION "refuse_across_sandbox"(constraint_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this would join a sandbox with what is not part of it'
    USING ERRCODE = 'foreign_key_violation', CONSTRAINT = constraint_name;
END $$;

CREATE FUNCTION "keep_affiliations_in_sandbox"() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  IF EXISTS (SELECT FROM school WHERE sandbox_id IS NOT NULL) AND EXISTS (
    SELECT FROM changed_rows c JOIN school here ON here.id = c.school_id
    WHERE (here.sandbox_id IS NOT NULL AND EXISTS (SELECT FROM staff_role r WHERE r.person_id = c.person_id))
      OR EXISTS (SELECT FROM affiliation other JOIN school there ON there.id = other.school_id
        WHERE other.person_id = c.person_id AND there.sandbox_id IS DISTINCT FROM here.sandbox_id))
  THEN PERFORM refuse_across_sandbox('affiliation_sandbox_fkey'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "affiliation_sandbox" AFTER INSERT ON "affiliation" REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "keep_affiliations_in_sandbox"();

CREATE FUNCTION "keep_grant_in_sandbox"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM school s JOIN sandbox b ON b.id = s.sandbox_id
    WHERE s.id = NEW.school_id AND b.client_id <> NEW.client_id)
  THEN PERFORM refuse_across_sandbox('grant_sandbox_fkey'); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "grant_sandbox" BEFORE INSERT OR UPDATE OF "client_id", "school_id" ON "grant"
  FOR EACH ROW EXECUTE FUNCTION "keep_grant_in_sandbox"();

CREATE FUNCTION "keep_out_of_sandbox"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM school WHERE id = NEW.school_id AND sandbox_id IS NOT NULL)
  THEN PERFORM refuse_across_sandbox(TG_TABLE_NAME || '_sandbox_fkey'); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "import_school_sandbox" BEFORE INSERT ON "import_school"
  FOR EACH ROW EXECUTE FUNCTION "keep_out_of_sandbox"();
CREATE TRIGGER "staff_role_school_sandbox" BEFORE INSERT ON "staff_role_school"
  FOR EACH ROW EXECUTE FUNCTION "keep_out_of_sandbox"();

CREATE FUNCTION "keep_staff_from_sandbox"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM affiliation a JOIN school s ON s.id = a.school_id
    WHERE a.person_id = NEW.person_id AND s.sandbox_id IS NOT NULL)
  THEN PERFORM refuse_across_sandbox('staff_role_sandbox_fkey'); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "staff_role_sandbox" BEFORE INSERT ON "staff_role"
  FOR EACH ROW WHEN (NEW."person_id" IS NOT NULL) EXECUTE FUNCTION "keep_staff_from_sandbox"();

CREATE FUNCTION "keep_school_sandbox"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_across_sandbox('school_sandbox_fkey');
  RETURN NULL;
END $$;
CREATE TRIGGER "school_sandbox" BEFORE UPDATE OF "sandbox_id" ON "school"
  FOR EACH ROW WHEN (OLD."sandbox_id" IS DISTINCT FROM NEW."sandbox_id") EXECUTE FUNCTION "keep_school_sandbox"();
