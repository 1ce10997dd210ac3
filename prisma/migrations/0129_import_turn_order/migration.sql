-- AlterTable
ALTER TABLE "import_turn" ADD COLUMN     "actor_served_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_small" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "school_served_at" TIMESTAMPTZ(3);
