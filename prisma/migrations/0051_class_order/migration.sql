-- From the sort key of a group's name: classes with a number first, then the upper grades (E1, Q2), then other names.
-- "Klasse" and the like in front of them do not count, and numbers sort by value.
CREATE FUNCTION "natural_key"("sort_key" text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT CASE WHEN bare ~ '^[0-9]' THEN '1'
      WHEN bare ~ '^(ef|[ejkq](#.)?[0-9]{1,2}|[ejkq]$)(?![a-z0-9]{2})' THEN '2' ELSE '3' END
    -- A sort key writes a punctuation mark as # and a sign, which may be a digit.
    || regexp_replace(
      regexp_replace(bare, '(?<=^|[^#0-9]|#[0-9])[0-9]+', '000000\&', 'g'),
      '(?<=^|[^#0-9]|#[0-9])0*([0-9]{6,})', '\1', 'g')
    || ' ' || "sort_key"
  FROM regexp_replace(split_part("sort_key", ' ', 1),
    '^(klassenstufe|klasse|kl|jahrgangsstufe|jahrgang|jgst|jg|stufe|year|grade)(#.)*(?=[0-9]|(ef|[ejkq])((#.)?[0-9]|$))',
    '') AS bare);

ALTER TABLE "group" ADD COLUMN "natural_key" TEXT COLLATE "C"
  GENERATED ALWAYS AS ("natural_key"("sort_key")) STORED NOT NULL;
CREATE INDEX "group_school_id_natural_key_id_idx" ON "group" ("school_id", "natural_key", "id");
