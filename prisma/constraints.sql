-- What Prisma cannot say: checks, collations, deferred keys. Part of the migrations.

-- directory
ALTER TABLE "school" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
ALTER TABLE "person" ALTER COLUMN "sort_key" TYPE text COLLATE "C";
ALTER TABLE "group" ALTER COLUMN "sort_key" TYPE text COLLATE "C";

ALTER TABLE "school"
  ADD CONSTRAINT "school_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "school_official_id_check" CHECK ("official_id" ~ '^\S(.*\S)?$' AND char_length("official_id") <= 64),
  ADD CONSTRAINT "school_country_check" CHECK ("country" ~ '^[A-Z]{2}$'),
  ADD CONSTRAINT "school_state_check" CHECK ("state" ~ '^[A-Z0-9]{1,3}$'),
  ADD CONSTRAINT "school_address_addition_check" CHECK ("address_addition" ~ '\S'),
  ADD CONSTRAINT "school_schooling_level_check" CHECK ("schooling_level" ~ '^[A-Z][A-Z0-9_]*$');

ALTER TABLE "person"
  ADD CONSTRAINT "person_name_check" CHECK (num_nulls("first_full", "first_call", "last") IN (0, 3)),
  ADD CONSTRAINT "person_name_length_check" CHECK (
    greatest(char_length("first_full"), char_length("first_call"), char_length("last")) <= 200),
  ADD CONSTRAINT "person_name_filled_check" CHECK ("first_full" ~ '\S' AND "first_call" ~ '\S' AND "last" ~ '\S'),
  ADD CONSTRAINT "person_source_system_identifier_check" CHECK (
    "source_system_identifier" ~ '\S' AND char_length("source_system_identifier") <= 255),
  ADD CONSTRAINT "person_status_check" CHECK (
    CASE "status"
      WHEN 'ACTIVE' THEN num_nonnulls("soft_deleted_at", "purge_at") = 0
      WHEN 'SOFT_DELETED' THEN coalesce("purge_at" >= "soft_deleted_at", false)
    END);

-- The home school is one of the person's schools. Deferred, because each row needs the other.
ALTER TABLE "person" ADD CONSTRAINT "person_home_affiliation_fkey"
  FOREIGN KEY ("id", "home_school_id") REFERENCES "affiliation" ("person_id", "school_id")
  DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE "group"
  ADD CONSTRAINT "group_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "group_status_check" CHECK (("status" = 'DELETED') = ("deleted_at" IS NOT NULL));

-- access
ALTER TABLE "app"
  ADD CONSTRAINT "app_client_id_check" CHECK ("client_id" ~ '^[A-Za-z0-9_-]{1,64}$'),
  ADD CONSTRAINT "app_name_check" CHECK ("name" ~ '\S' AND char_length("name") <= 200),
  ADD CONSTRAINT "app_secret_check" CHECK (("type" = 'CONFIDENTIAL') = ("secret_hash" IS NOT NULL)),
  ADD CONSTRAINT "app_secret_hash_check" CHECK (octet_length("secret_hash") = 32),
  ADD CONSTRAINT "app_pkce_check" CHECK ("pkce_required" OR "type" = 'CONFIDENTIAL'),
  ADD CONSTRAINT "app_scopes_check" CHECK ("scopes" <@ ARRAY[
    'openid', 'offline_access', 'profile', 'school', 'role', 'groups',
    'schools:read', 'users:read', 'groups:read', 'people:read']),
  ADD CONSTRAINT "app_uris_check" CHECK (
    array_position("redirect_uris", NULL) IS NULL AND array_position("post_logout_redirect_uris", NULL) IS NULL);

ALTER TABLE "grant" ADD CONSTRAINT "grant_sign_on_roles_check" CHECK (
  ("sign_on_audience" = 'ROLES') = (cardinality("sign_on_roles") > 0));

ALTER TABLE "sign_in" ADD CONSTRAINT "sign_in_order_check" CHECK ("last_sign_in_at" >= "first_sign_in_at");

-- events
ALTER TABLE "audit" ADD CONSTRAINT "audit_action_check" CHECK ("action" ~ '^[a-z]+(_[a-z]+)*$');
