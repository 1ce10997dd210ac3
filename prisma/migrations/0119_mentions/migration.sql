-- AlterTable
ALTER TABLE "upstream_refusal" ADD COLUMN     "mentions" INTEGER[] DEFAULT ARRAY[]::INTEGER[];

-- AlterTable
ALTER TABLE "upstream_set_up_link" ADD COLUMN     "mentions" INTEGER[] DEFAULT ARRAY[]::INTEGER[];

-- CreateIndex
CREATE INDEX "upstream_refusal_mentions_idx" ON "upstream_refusal" USING GIN ("mentions");

-- CreateIndex
CREATE INDEX "upstream_set_up_link_mentions_idx" ON "upstream_set_up_link" USING GIN ("mentions");

-- Written by hand. Encrypted claims are not searched by the database: it finds whom they are about by 32 bits of a keyed
-- hash of each value and each word in them. Rows from before have none, and expire within 30 days.
DELETE FROM "upstream_refusal";
UPDATE "upstream_set_up_link" SET "tested" = NULL WHERE "tested" IS NOT NULL;

CREATE FUNCTION "hashes_of"(texts text[]) RETURNS integer[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    array_agg(DISTINCT ('x' || encode(substr(user_name_hash(lower(value)), 1, 4), 'hex'))::bit(32)::integer), '{}')
  FROM unnest(texts) AS given (value) WHERE value <> ''
$$;
CREATE FUNCTION "words_of"(value text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_split_to_array(value, '[^[:alnum:]]+')
$$;
CREATE FUNCTION "mentions_of"(texts text[]) RETURNS integer[] LANGUAGE sql STABLE AS $$
  SELECT hashes_of(texts || words_of(array_to_string(texts, ' ')))
$$;

-- People are deleted for good in several places. Before the rows that hang on them go, because these say who they were.
CREATE FUNCTION "forget_accounts_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  last_words integer[] := hashes_of(words_of(OLD.last));
  first_words integer[] := hashes_of(words_of(concat_ws(' ', OLD.first_full, OLD.first_call)));
  keys integer[] := hashes_of(ARRAY[OLD.id::text, OLD.source_system_identifier]
    || ARRAY(SELECT username FROM credential WHERE person_id = OLD.id)
    || ARRAY(SELECT subject FROM upstream_link WHERE person_id = OLD.id)
    || ARRAY(SELECT sub FROM upstream_session WHERE person_id = OLD.id));
  -- The same key means somebody else at another school.
  connections uuid[] := ARRAY(
    SELECT id FROM upstream_connection WHERE school_id = OLD.home_school_id
      OR school_id IN (SELECT school_id FROM affiliation WHERE person_id = OLD.id)
    UNION SELECT connection_id FROM upstream_link WHERE person_id = OLD.id);
BEGIN
  DELETE FROM upstream_refusal WHERE (connection_id = ANY (connections) AND mentions && keys)
    OR (cardinality(last_words) > 0 AND mentions @> last_words AND mentions && first_words);
  UPDATE upstream_set_up_link SET tested = NULL, mentions = '{}'
  WHERE (connection_id = ANY (connections) AND mentions && keys)
    OR (cardinality(last_words) > 0 AND mentions @> last_words AND mentions && first_words);
  UPDATE credential_batch SET encrypted = NULL WHERE encrypted IS NOT NULL
    AND id IN (SELECT batch_id FROM credential_batch_person WHERE person_id = OLD.id);
  RETURN OLD;
END $$;
CREATE TRIGGER "person_deleted_forgets_accounts" BEFORE DELETE ON "person" FOR EACH ROW
  EXECUTE FUNCTION "forget_accounts_of_person"();
