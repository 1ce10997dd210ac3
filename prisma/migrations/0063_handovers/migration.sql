-- CreateTable
CREATE TABLE "handover" (
    "id" UUID NOT NULL,
    "from_school_id" UUID NOT NULL,
    "to_school_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "offered" INTEGER NOT NULL,
    "moved" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "handover_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "handover_person" (
    "person_id" UUID NOT NULL,
    "handover_id" UUID NOT NULL,

    CONSTRAINT "handover_person_pkey" PRIMARY KEY ("person_id")
);

-- CreateIndex
CREATE INDEX "handover_from_school_id_id_idx" ON "handover"("from_school_id", "id");

-- CreateIndex
CREATE INDEX "handover_to_school_id_id_idx" ON "handover"("to_school_id", "id");

-- CreateIndex
CREATE INDEX "handover_expires_at_idx" ON "handover"("expires_at");

-- CreateIndex
CREATE INDEX "handover_person_handover_id_idx" ON "handover_person"("handover_id");

-- AddForeignKey
ALTER TABLE "handover" ADD CONSTRAINT "handover_from_school_id_fkey" FOREIGN KEY ("from_school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "handover" ADD CONSTRAINT "handover_to_school_id_fkey" FOREIGN KEY ("to_school_id") REFERENCES "school"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "handover_person" ADD CONSTRAINT "handover_person_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "handover_person" ADD CONSTRAINT "handover_person_handover_id_fkey" FOREIGN KEY ("handover_id") REFERENCES "handover"("id") ON DELETE CASCADE ON UPDATE CASCADE;
