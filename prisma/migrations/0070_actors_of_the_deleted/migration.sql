-- CreateIndex
CREATE INDEX "import_actor_id_idx" ON "import"("actor_id");

-- Written by hand. Imports and batches of people who were deleted for good name nobody. The nil id has no role: an actor without an id
-- would have an operator's rights.
CREATE OR REPLACE FUNCTION "forget_answers_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE idempotency_key SET answer = '', named_ids = '{}' WHERE named_ids @> ARRAY[OLD.id];
  DELETE FROM idempotency_key WHERE caller = 'person:' || OLD.id;
  DELETE FROM card_print WHERE caller = 'person:' || OLD.id;
  DELETE FROM credential_batch WHERE caller = 'person:' || OLD.id;
  UPDATE import SET actor_id = 'person:00000000-0000-0000-0000-000000000000' WHERE actor_id = 'person:' || OLD.id;
  RETURN NULL;
END $$;

UPDATE "import" SET "actor_id" = 'person:00000000-0000-0000-0000-000000000000'
FROM "tombstone" WHERE "import"."actor_id" = 'person:' || "tombstone"."person_id";
