-- CreateTable
CREATE TABLE "import_turn" (
    "import_id" UUID NOT NULL,
    "actor_id" TEXT NOT NULL,
    "school_id" UUID,
    "is_reading" BOOLEAN NOT NULL,
    "queued_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_turn_pkey" PRIMARY KEY ("import_id")
);

-- AddForeignKey
ALTER TABLE "import_turn" ADD CONSTRAINT "import_turn_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "import"("id") ON DELETE CASCADE ON UPDATE CASCADE;
