-- AlterTable
ALTER TABLE "idempotency_key" ADD COLUMN     "named_ids" UUID[];

-- CreateIndex
CREATE INDEX "idempotency_key_named_ids_idx" ON "idempotency_key" USING GIN ("named_ids");

-- Written by hand. People are deleted for good in several places. The key stays, so that a repetition creates nobody anew.
CREATE FUNCTION "forget_answers_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE idempotency_key SET answer = '', named_ids = '{}' WHERE named_ids @> ARRAY[OLD.id];
  DELETE FROM idempotency_key WHERE caller = 'person:' || OLD.id;
  DELETE FROM card_print WHERE caller = 'person:' || OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "person_deleted_forgets_answers" AFTER DELETE ON "person" FOR EACH ROW EXECUTE FUNCTION "forget_answers_of_person"();
