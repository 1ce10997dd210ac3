-- CreateEnum
CREATE TYPE "user_name_rule" AS ENUM ('FIRST_DOT_LAST', 'FIRST_INITIAL_LAST', 'FIRST_LAST_INITIAL', 'RANDOM', 'ROSTER');

-- CreateEnum
CREATE TYPE "password_kind" AS ENUM ('WORDS', 'LETTERS');

-- AlterTable
ALTER TABLE "credential" ADD COLUMN     "must_change" BOOLEAN NOT NULL DEFAULT false,
ALTER COLUMN "password_hash" DROP NOT NULL;

-- AlterTable
ALTER TABLE "staged_person" ADD COLUMN     "username" TEXT;

-- CreateTable
CREATE TABLE "user_name" (
    "hash" BYTEA NOT NULL,
    "person_id" UUID,

    CONSTRAINT "user_name_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "user_name_number" (
    "hash" BYTEA NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "user_name_number_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "user_name_key" (
    "id" INTEGER NOT NULL,
    "key" BYTEA NOT NULL,

    CONSTRAINT "user_name_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "school_sign_in" (
    "school_id" UUID NOT NULL,
    "user_name_rule" "user_name_rule" NOT NULL,
    "password_kind" "password_kind" NOT NULL,
    "must_change_password" BOOLEAN NOT NULL,
    "own_password_from_grade" INTEGER,
    "help_text" TEXT,

    CONSTRAINT "school_sign_in_pkey" PRIMARY KEY ("school_id")
);

-- CreateIndex
CREATE INDEX "user_name_person_id_idx" ON "user_name"("person_id");

-- AddForeignKey
ALTER TABLE "user_name" ADD CONSTRAINT "user_name_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "school_sign_in" ADD CONSTRAINT "school_sign_in_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand: user names of rules have at most 64 characters, those given by hand 255 as before.
ALTER TABLE "school_sign_in"
  ADD CONSTRAINT "school_sign_in_grade_check" CHECK ("own_password_from_grade" BETWEEN 1 AND 13),
  ADD CONSTRAINT "school_sign_in_help_text_check" CHECK ("help_text" ~ '\S' AND char_length("help_text") <= 500);
ALTER TABLE "user_name" ADD CONSTRAINT "user_name_hash_check" CHECK (octet_length("hash") = 32);
ALTER TABLE "user_name_number"
  ADD CONSTRAINT "user_name_number_hash_check" CHECK (octet_length("hash") = 32),
  ADD CONSTRAINT "user_name_number_last_check" CHECK ("last" > 0);
ALTER TABLE "user_name_key" ADD CONSTRAINT "user_name_key_one_check" CHECK ("id" = 1 AND octet_length("key") = 64);
ALTER TABLE "credential" ADD CONSTRAINT "credential_must_change_check" CHECK (
  NOT "must_change" OR "password_hash" IS NOT NULL);

INSERT INTO "user_name_key" ("id", "key")
SELECT 1, string_agg(uuid_send(gen_random_uuid()), '') FROM generate_series(1, 4);

CREATE FUNCTION user_name_hash(username text) RETURNS bytea LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT sha256(k."key" || convert_to(username, 'UTF8')) FROM "user_name_key" k
$$;

-- A user name belongs to the first person who got it; the row stays when the credential changes or goes.
CREATE FUNCTION claim_user_name() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted bytea := user_name_hash(NEW.username);
BEGIN
  INSERT INTO "user_name" ("hash", "person_id") VALUES (wanted, NEW.person_id) ON CONFLICT ("hash") DO NOTHING;
  IF NOT EXISTS (SELECT FROM "user_name" n WHERE n."hash" = wanted AND n."person_id" = NEW.person_id) THEN
    RAISE unique_violation
      USING MESSAGE = 'the user name was given to another person', CONSTRAINT = 'credential_username_key';
  END IF;
  RETURN NEW;
END
$$;

INSERT INTO "user_name" ("hash", "person_id") SELECT user_name_hash("username"), "person_id" FROM "credential";

CREATE TRIGGER "credential_claims_user_name" BEFORE INSERT ON "credential"
  FOR EACH ROW EXECUTE FUNCTION claim_user_name();
CREATE TRIGGER "credential_claims_new_user_name" BEFORE UPDATE OF "username" ON "credential"
  FOR EACH ROW WHEN (OLD."username" IS DISTINCT FROM NEW."username") EXECUTE FUNCTION claim_user_name();
