-- AlterTable
ALTER TABLE "card_settings" ADD COLUMN     "class_lists" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "picture_code_up_to_grade" INTEGER;

-- CreateTable
CREATE TABLE "picture_code" (
    "person_id" UUID NOT NULL,
    "school_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "wrong_tries" INTEGER NOT NULL DEFAULT 0,
    "chosen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "picture_code_pkey" PRIMARY KEY ("person_id")
);

-- AddForeignKey
ALTER TABLE "picture_code" ADD CONSTRAINT "picture_code_person_id_school_id_fkey" FOREIGN KEY ("person_id", "school_id") REFERENCES "affiliation"("person_id", "school_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "picture_code"
  ADD CONSTRAINT "picture_code_hash_check" CHECK (octet_length("hash") = 32),
  ADD CONSTRAINT "picture_code_tries_check" CHECK ("wrong_tries" >= 0);
