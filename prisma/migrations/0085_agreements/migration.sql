-- CreateEnum
CREATE TYPE "withheld_reason" AS ENUM ('SCHOOL', 'NOT_AGREED');

-- CreateTable
CREATE TABLE "agreement" (
    "id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "app_name" TEXT,
    "provider" TEXT,
    "text" TEXT,
    "pdf" BYTEA,
    "sha256" TEXT,
    "bytes" INTEGER,
    "deletion_de" TEXT,
    "deletion_en" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "agreement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agreement_subprocessor" (
    "agreement_id" UUID NOT NULL,
    "place" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "country" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,

    CONSTRAINT "agreement_subprocessor_pkey" PRIMARY KEY ("agreement_id","place")
);

-- CreateTable
CREATE TABLE "agreement_purpose" (
    "agreement_id" UUID NOT NULL,
    "item" TEXT NOT NULL,
    "required" BOOLEAN NOT NULL,
    "purpose_de" TEXT,
    "purpose_en" TEXT,

    CONSTRAINT "agreement_purpose_pkey" PRIMARY KEY ("agreement_id","item")
);

-- CreateTable
CREATE TABLE "agreement_acceptance" (
    "id" UUID NOT NULL,
    "agreement_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "accepted_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_by" TEXT,
    "accepted_role" TEXT,
    "attributes" "app_attribute"[],
    "scopes" TEXT[],
    "withheld" "app_attribute"[],
    "replaced_at" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),
    "withdrawn_by" TEXT,
    "withdrawn_role" TEXT,

    CONSTRAINT "agreement_acceptance_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "withheld_item" (
    "client_id" TEXT NOT NULL,
    "item" TEXT NOT NULL,
    "school_id" UUID NOT NULL,
    "reason" "withheld_reason" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "withheld_item_pkey" PRIMARY KEY ("client_id","item","school_id","reason")
);

-- CreateIndex
CREATE INDEX "agreement_client_id_published_at_idx" ON "agreement"("client_id", "published_at");

-- CreateIndex
CREATE UNIQUE INDEX "agreement_client_id_version_key" ON "agreement"("client_id", "version");

-- CreateIndex
CREATE INDEX "agreement_acceptance_school_id_client_id_accepted_at_idx" ON "agreement_acceptance"("school_id", "client_id", "accepted_at");

-- CreateIndex
CREATE INDEX "agreement_acceptance_client_id_school_id_accepted_at_idx" ON "agreement_acceptance"("client_id", "school_id", "accepted_at");

-- CreateIndex
CREATE INDEX "agreement_acceptance_agreement_id_idx" ON "agreement_acceptance"("agreement_id");

-- CreateIndex
CREATE INDEX "agreement_acceptance_accepted_by_idx" ON "agreement_acceptance"("accepted_by");

-- CreateIndex
CREATE INDEX "agreement_acceptance_withdrawn_by_idx" ON "agreement_acceptance"("withdrawn_by");

-- CreateIndex
CREATE INDEX "withheld_item_school_id_client_id_idx" ON "withheld_item"("school_id", "client_id");

-- AddForeignKey
ALTER TABLE "agreement_subprocessor" ADD CONSTRAINT "agreement_subprocessor_agreement_id_fkey" FOREIGN KEY ("agreement_id") REFERENCES "agreement"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agreement_purpose" ADD CONSTRAINT "agreement_purpose_agreement_id_fkey" FOREIGN KEY ("agreement_id") REFERENCES "agreement"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agreement_acceptance" ADD CONSTRAINT "agreement_acceptance_agreement_id_fkey" FOREIGN KEY ("agreement_id") REFERENCES "agreement"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agreement_acceptance" ADD CONSTRAINT "agreement_acceptance_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withheld_item" ADD CONSTRAINT "withheld_item_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withheld_item" ADD CONSTRAINT "withheld_item_school_id_fkey" FOREIGN KEY ("school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Written by hand.
ALTER TABLE "agreement"
  ADD CONSTRAINT "agreement_version_check" CHECK ("version" ~ '\S' AND char_length("version") <= 50),
  ADD CONSTRAINT "agreement_document_check" CHECK (num_nonnulls("text", "pdf") = num_nonnulls("sha256") AND num_nonnulls("sha256", "bytes") IN (0, 2)),
  ADD CONSTRAINT "agreement_sha256_check" CHECK ("sha256" ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "agreement_published_check" CHECK (
    num_nonnulls("published_at", "app_name") IN (0, 2) AND ("published_at" IS NULL OR "sha256" IS NOT NULL));
ALTER TABLE "agreement_subprocessor" ADD CONSTRAINT "agreement_subprocessor_country_check" CHECK ("country" ~ '^[A-Z]{2}$');
ALTER TABLE "agreement_acceptance" ADD CONSTRAINT "agreement_acceptance_ended_check" CHECK (num_nonnulls("replaced_at", "withdrawn_at") <= 1);
CREATE UNIQUE INDEX "agreement_draft_key" ON "agreement"("client_id") WHERE "published_at" IS NULL;
CREATE UNIQUE INDEX "agreement_acceptance_in_force_key" ON "agreement_acceptance"("client_id", "school_id")
  WHERE "replaced_at" IS NULL AND "withdrawn_at" IS NULL;

CREATE FUNCTION "refuse_change_of_agreement"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A published agreement never changes.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "agreement_is_published" BEFORE UPDATE ON "agreement" FOR EACH ROW
  WHEN (OLD."published_at" IS NOT NULL) EXECUTE FUNCTION "refuse_change_of_agreement"();

CREATE FUNCTION "refuse_part_of_agreement"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  IF EXISTS (SELECT FROM "agreement" WHERE "id" = NEW."agreement_id" AND "published_at" IS NOT NULL) THEN
    RAISE EXCEPTION 'A published agreement never changes.' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "agreement_subprocessor_is_published" BEFORE INSERT OR UPDATE ON "agreement_subprocessor"
  FOR EACH ROW EXECUTE FUNCTION "refuse_part_of_agreement"();
CREATE TRIGGER "agreement_purpose_is_published" BEFORE INSERT OR UPDATE ON "agreement_purpose"
  FOR EACH ROW EXECUTE FUNCTION "refuse_part_of_agreement"();

-- What is withheld changes what the app sees.
CREATE TRIGGER "withheld_item_inserted" AFTER INSERT ON "withheld_item" REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "bump_views_of_grants"();
CREATE TRIGGER "withheld_item_deleted" AFTER DELETE ON "withheld_item" REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "bump_views_of_grants"();

-- A person who is deleted for good leaves no id; a school's receipt keeps its date and the role of who agreed.
CREATE FUNCTION "forget_person_in_agreements"() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE "agreement_acceptance" SET "accepted_by" = 'person:00000000-0000-0000-0000-000000000000'
  WHERE "accepted_by" = 'person:' || OLD."id";
  UPDATE "agreement_acceptance" SET "withdrawn_by" = 'person:00000000-0000-0000-0000-000000000000'
  WHERE "withdrawn_by" = 'person:' || OLD."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "person_leaves_agreements" AFTER DELETE ON "person" FOR EACH ROW EXECUTE FUNCTION "forget_person_in_agreements"();
