-- AlterTable
ALTER TABLE "upstream_connection" ADD COLUMN     "confirmed_for_staff" BOOLEAN NOT NULL DEFAULT true;

-- Written by hand. Who moves to another school also leaves the link behind: no staff could remove it any more, and the
-- account may be somebody else's next.
CREATE OR REPLACE FUNCTION "end_upstream_sessions_of_person"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM upstream_link WHERE person_id = NEW.id;
  DELETE FROM upstream_recent_sign_in WHERE person_id = NEW.id;
  UPDATE upstream_session SET ended_at = greatest(now(), created_at) WHERE person_id = NEW.id AND ended_at IS NULL;
  RETURN NULL;
END $$;
