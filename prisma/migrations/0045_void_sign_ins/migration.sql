-- AlterTable
ALTER TABLE "oidc_artifact" ADD COLUMN     "card_id" UUID;

-- CreateTable
CREATE TABLE "void_sign_in" (
    "person_id" UUID NOT NULL,

    CONSTRAINT "void_sign_in_pkey" PRIMARY KEY ("person_id")
);

-- AddForeignKey
ALTER TABLE "void_sign_in" ADD CONSTRAINT "void_sign_in_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand. Triggers, because people are deleted and restored, and cards ended, in many places, thousands at a time by an
-- import. A job deletes what is void then, and tells the apps. DO UPDATE locks the row, so that the job takes it after the commit.
CREATE FUNCTION "void_sign_ins_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE credential SET generation = generation + 1 WHERE person_id = NEW.id;
  IF FOUND THEN
    DELETE FROM sign_in_place WHERE person_id = NEW.id;
    INSERT INTO void_sign_in (person_id) VALUES (NEW.id)
      ON CONFLICT (person_id) DO UPDATE SET person_id = excluded.person_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "person_status_voids_sign_ins" AFTER UPDATE OF "status" ON "person" FOR EACH ROW
  WHEN (OLD."status" IS DISTINCT FROM NEW."status") EXECUTE FUNCTION "void_sign_ins_of_person"();

-- A card goes with the affiliation too, and that with the person, for whom there is nothing left to do.
CREATE FUNCTION "void_sign_ins_of_card"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO void_sign_in (person_id) SELECT p.id FROM person p WHERE p.id = OLD.person_id
    ON CONFLICT (person_id) DO UPDATE SET person_id = excluded.person_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "login_card_revoked_voids_sign_ins" AFTER UPDATE OF "revoked_at" ON "login_card" FOR EACH ROW
  WHEN (NEW."revoked_at" IS NOT NULL AND OLD."revoked_at" IS NULL) EXECUTE FUNCTION "void_sign_ins_of_card"();
CREATE TRIGGER "login_card_deleted_voids_sign_ins" AFTER DELETE ON "login_card" FOR EACH ROW
  WHEN (OLD."revoked_at" IS NULL) EXECUTE FUNCTION "void_sign_ins_of_card"();
