-- CreateEnum
CREATE TYPE "id_move_state" AS ENUM ('PREPARING', 'RUNNING', 'CUT_OVER', 'CALLED_OFF');

-- AlterTable
ALTER TABLE "app_event" ADD COLUMN     "next_subject_id" UUID,
ADD COLUMN     "old_subject_id" UUID;

-- AlterTable
ALTER TABLE "pairwise_id" ADD COLUMN     "is_unannounced" BOOLEAN;

-- CreateTable
CREATE TABLE "id_move" (
    "client_id" TEXT NOT NULL,
    "state" "id_move_state" NOT NULL DEFAULT 'PREPARING',
    "subject_type" "subject_type" NOT NULL,
    "old_sector" UUID NOT NULL,
    "new_sector" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "cut_over_at" TIMESTAMPTZ(3),
    "people" INTEGER NOT NULL DEFAULT 0,
    "announced_up_to" UUID,
    "passed" INTEGER NOT NULL DEFAULT 0,
    "is_announced" BOOLEAN NOT NULL DEFAULT false,
    "read_up_to" UUID,
    "read" INTEGER NOT NULL DEFAULT 0,
    "read_at" TIMESTAMPTZ(3),
    "forgotten_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),

    CONSTRAINT "id_move_pkey" PRIMARY KEY ("client_id")
);

-- AddForeignKey
ALTER TABLE "id_move" ADD CONSTRAINT "id_move_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "app"("client_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "id_move" ADD CONSTRAINT "id_move_sectors_check" CHECK ("old_sector" <> "new_sector");
ALTER TABLE "id_move" ADD CONSTRAINT "id_move_subject_type_check" CHECK ("subject_type" <> 'SHARED');
ALTER TABLE "id_move" ADD CONSTRAINT "id_move_cut_over_check" CHECK ("state" <> 'CUT_OVER' OR "cut_over_at" IS NOT NULL);

-- looser: an app with shared ids has a sector from the start of its move on; every row was written under the stricter rule
ALTER TABLE "app" DROP CONSTRAINT "app_sector_check";
ALTER TABLE "app" ADD CONSTRAINT "app_sector_check" CHECK ("subject_type" = 'SHARED' OR "sector" IS NOT NULL) NOT VALID;

-- Counts who is not announced yet; the index is empty but for moves.
CREATE INDEX "pairwise_id_unannounced_idx" ON "pairwise_id"("sector") WHERE "is_unannounced";

-- Other ids: what the app reads has changed.
CREATE TRIGGER "app_ids_changed" AFTER UPDATE OF "sector" ON "app" FOR EACH ROW
  WHEN (OLD."sector" IS DISTINCT FROM NEW."sector") EXECUTE FUNCTION "bump_view_of_app"();

-- Who is deleted is in the list of new ids no more.
CREATE OR REPLACE FUNCTION "forget_pairwise_ids"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_view_versions(array_agg('app:' || m.client_id))
  FROM id_move m JOIN pairwise_id p ON p.sector = m.old_sector WHERE p.person_id = OLD.id AND p.record_id = OLD.id;
  DELETE FROM pairwise_id WHERE person_id = OLD.id;
  RETURN NULL;
END $$;
